"use strict";
// Theme, sorting, filtering, details on demand. Text of models and candidates only ever becomes textContent.
(function () {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("kbench-theme"); } catch { return null; } };
  function applyTheme() {
    const chosen = stored();
    root.dataset.theme = chosen || (dark.matches ? "dark" : "light");
    document.dispatchEvent(new Event("kbench-theme"));
  }
  applyTheme();
  dark.addEventListener("change", applyTheme);

  const one = (selector, from) => (from || document).querySelector(selector);
  const all = (selector, from) => [...(from || document).querySelectorAll(selector)];
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) if (value !== null) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  }
  const root_path = document.currentScript.dataset.root || "";
  const loaded = new Map();
  function loadScript(path) {
    if (!loaded.has(path)) {
      loaded.set(path, new Promise((resolve, reject) => {
        const script = make("script", { src: root_path + path });
        script.onload = resolve;
        script.onerror = () => reject(new Error("cannot load " + path));
        document.head.append(script);
      }));
    }
    return loaded.get(path);
  }

  // ---- sorting: a button in each header, aria-sort says the state -------------------------------------------------------
  function valueOf(row, column) {
    const cell = row.cells[column];
    const given = cell && cell.dataset.value;
    if (given === undefined) return cell ? cell.textContent.trim().toLowerCase() : "";
    return given === "" ? null : Number(given);
  }
  function sortBy(table, column, direction) {
    all("thead th", table).forEach((th, i) => th.removeAttribute("aria-sort") || (i === column && th.setAttribute("aria-sort", direction)));
    const sign = direction === "ascending" ? 1 : -1;
    for (const body of all("tbody", table)) {
      const rows = all(":scope > tr:not(.detail-row)", body);
      const follow = new Map(rows.map((row) => [row, row.nextElementSibling && row.nextElementSibling.classList.contains("detail-row") ? row.nextElementSibling : null]));
      rows.sort((a, b) => {
        const x = valueOf(a, column), y = valueOf(b, column);
        if (x === null || y === null) return (x === null) - (y === null); // unknown stays last, either way
        return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true }));
      });
      for (const row of rows) { body.append(row); if (follow.get(row)) body.append(follow.get(row)); }
    }
  }
  function sortable(table) {
    all("thead th[data-sort]", table).forEach((th) => {
      const button = make("button", { type: "button", class: "sort" }, ...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const first = th.dataset.sort, now = th.getAttribute("aria-sort");
        const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
        sortBy(table, th.cellIndex, next);
      });
    });
  }

  // ---- the index: level, model, cell ------------------------------------------------------------------------------------
  function filterIndex() {
    const level = (one("input[name=level]:checked") || {}).value || "overall";
    const text = ((one("#find") || {}).value || "").trim().toLowerCase();
    const cell = (one("#cell") || {}).value || "";
    const whole = (one("#whole") || {}).checked;
    let shown = 0;
    for (const section of all("section.board")) {
      section.hidden = cell !== "" && section.id !== cell;
      for (const table of all("table.ranking", section)) {
        table.closest(".wide").hidden = table.dataset.level !== level;
        for (const row of all("tbody tr", table)) {
          row.hidden = !(row.dataset.find.includes(text) && (!whole || row.dataset.whole === "1"));
          if (!row.hidden && !section.hidden && table.dataset.level === level) shown += 1;
        }
      }
      const has = all("table.ranking", section).some((table) => table.dataset.level === level);
      one(".nolevel", section).hidden = has;
    }
    for (const row of all("table.published tbody tr")) row.hidden = row.dataset.scope !== "" && row.dataset.scope !== level;
    const status = one("#shown");
    if (status) status.textContent = shown + (shown === 1 ? " row" : " rows");
  }
  function filterRows(input, table) {
    input.addEventListener("input", () => {
      const text = input.value.trim().toLowerCase();
      for (const row of all("tbody tr:not(.detail-row)", table)) {
        row.hidden = !row.textContent.toLowerCase().includes(text);
        const next = row.nextElementSibling;
        if (next && next.classList.contains("detail-row")) next.hidden = row.hidden || next.dataset.open !== "1";
      }
    });
  }

  // ---- details of an attempt, loaded when asked for -----------------------------------------------------------------------
  const details = new Map();
  window.kbenchDetails = (key, value) => details.set(key, value);
  function showDetails(box, found) {
    box.replaceChildren();
    const facts = make("dl", { class: "facts" });
    for (const [name, value] of Object.entries(found.facts)) facts.append(make("dt", {}, name), make("dd", {}, value));
    box.append(facts);
    if (found.gates.length) {
      const list = make("ul", {});
      for (const [name, passed, evidence] of found.gates) {
        const word = passed === true ? "yes" : passed === false ? "no" : "none";
        list.append(make("li", { class: "gate-" + word }, make("strong", {}, name), ": " + (passed === null ? "did not run. " : "") + evidence));
      }
      box.append(make("h3", {}, "What each gate saw"), list);
    }
    if (found.errors.length) {
      const body = make("tbody", {});
      for (const row of found.errors) body.append(make("tr", {}, ...row.map((text, i) => make("td", { class: i ? "" : "text" }, text))));
      const head = make("tr", {}, ...["error against fp64", "candidate", "eager", "budget"].map((t, i) => make("th", { scope: "col", class: i ? "" : "text" }, t)));
      box.append(make("div", { class: "wide" }, make("table", {}, make("thead", {}, head), body)));
    }
    for (const [title, text] of [["Code", found.code], ["Log", found.log], ["Reply", found.reply]])
      if (text) box.append(make("h3", {}, title), make("pre", { tabindex: "0", "aria-label": title }, text));
    if (!found.code) box.append(make("p", { class: "soft" }, "No code is stored for this attempt."));
  }
  async function toggleDetails(button) {
    const row = button.closest("tr"), open = button.getAttribute("aria-expanded") === "true";
    let next = row.nextElementSibling;
    if (!next || !next.classList.contains("detail-row")) {
      next = make("tr", { class: "detail-row" }, make("td", { colspan: row.cells.length, class: "text full" }, make("div", { class: "detail" }, "loading")));
      row.after(next);
      const key = button.dataset.details, sample = Number(button.dataset.sample);
      try {
        await loadScript("data/details/" + key + ".js");
        showDetails(one(".detail", next), details.get(key).find((found) => found.sample === sample));
      } catch (error) { one(".detail", next).textContent = String(error.message); }
    }
    button.setAttribute("aria-expanded", String(!open));
    next.hidden = open;
    next.dataset.open = open ? "0" : "1";
  }

  // ---- a problem's attempts: built here, from data, so that no text of a candidate is ever markup -------------------------
  window.kbenchAttempts = (_key, data) => {
    const table = one("#attempts"), body = one("tbody", table);
    const text = (v) => make("td", { class: "text" }, v);
    const times = (label, bounds) => {
      const cell = make("td", { "data-value": bounds ? bounds[0] : "", "data-label": label });
      cell.append(bounds ? bounds[0].toFixed(2) + "x" : "-");
      if (bounds && bounds[1] !== null) cell.append(make("span", { class: "ci" }, bounds[1].toFixed(2) + "-" + (bounds[2] === null ? "\u221e" : bounds[2].toFixed(2))));
      return cell;
    };
    for (const [run, sample, status, eager, compile, latency, language, message] of data.attempts) {
      const [model, slug, cell] = data.runs[run];
      const head = make("th", { scope: "row", class: "text" }, make("a", { href: root_path + "model/" + slug + ".html" }, model));
      if (data.several) head.append(" ", make("small", {}, "#" + sample));
      head.append(" ", make("small", { class: "soft" }, cell));
      const state = text("");
      state.dataset.label = "status";
      state.append(make("span", { class: "dot s-" + status.split(" ")[0], "aria-hidden": "true" }), status.replaceAll("_", " "));
      const button = make("button", { type: "button", "aria-expanded": "false", "data-details": slug + "/" + data.slug, "data-sample": sample }, "code, evidence");
      button.addEventListener("click", () => toggleDetails(button));
      const note = make("td", { class: "text message full" + (message ? "" : " none") }, message);
      const time = make("td", { "data-value": latency === null ? "" : latency, "data-label": "microseconds a call" }, latency === null ? "-" : latency.toFixed(1));
      const lang = text(language); lang.dataset.label = "language";
      body.append(make("tr", {}, head, state, times("over eager", eager), times("over compile", compile), time, lang, note, make("td", { class: "full" }, button)));
    }
    one("#loading").remove();
    const wanted = location.hash && document.getElementById("run-" + location.hash.slice(1));
    if (wanted) wanted.scrollIntoView();
  };

  // ---- plots: the library comes when the first of them comes near -----------------------------------------------------------
  const plots = new Map();
  window.kbenchPlot = (key, item) => plots.set(key, item);
  function paint() {
    if (!window.Bokeh) return;
    const style = getComputedStyle(root), ink = style.getPropertyValue("--ink").trim(), soft = style.getPropertyValue("--soft").trim();
    const text = { Title: { text_color: ink }, LinearAxis: null, LogAxis: null, CategoricalAxis: null, Legend: { label_text_color: ink, inactive_fill_alpha: 0.5, inactive_fill_color: style.getPropertyValue("--bg").trim() }, Grid: { grid_line_color: soft } };
    const axis = { axis_label_text_color: soft, major_label_text_color: soft, axis_line_color: soft, major_tick_line_color: soft, minor_tick_line_color: null };
    for (const doc of window.Bokeh.documents) for (const model of doc._all_models.values())
      if (model.type in text) model.setv(text[model.type] || axis);
  }
  async function draw(box) {
    try {
      await loadScript("assets/bokeh.min.js");
      await loadScript("data/plots/" + box.dataset.plot + ".js");
      const item = plots.get(box.dataset.plot);
      box.style.minHeight = "0";
      await window.Bokeh.embed.embed_item({ ...item, target_id: box.id }, box.id);
      paint();
      box.dataset.drawn = "1";
    } catch (error) { box.textContent = "This plot could not be drawn: " + error.message; }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const button = one("#theme");
    if (button) button.addEventListener("click", () => {
      try { localStorage.setItem("kbench-theme", root.dataset.theme === "dark" ? "light" : "dark"); } catch { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; }
      applyTheme();
    });
    all("table.sortable").forEach(sortable);
    const order = one("#order");
    if (order) order.addEventListener("change", () => all("table.ranking").forEach((table) => {
      const th = all("thead th", table).find((head) => head.dataset.name === order.value);
      if (th) sortBy(table, th.cellIndex, th.dataset.sort);
    }));
    ["#find", "#cell", "#whole"].forEach((id) => one(id) && one(id).addEventListener("input", filterIndex));
    all("input[name=level]").forEach((input) => input.addEventListener("change", filterIndex));
    if (one("section.board")) filterIndex();
    all("input[data-filters]").forEach((input) => filterRows(input, document.getElementById(input.dataset.filters)));
    const attempts = one("#attempts");
    if (attempts) loadScript("data/problems/" + attempts.dataset.key + ".js").catch((error) => { one("#loading").textContent = error.message; });
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); draw(entry.target); }
    }, { rootMargin: "200px" });
    all("[data-plot]").forEach((box) => near.observe(box));
  });
  document.addEventListener("kbench-theme", paint);
})();
