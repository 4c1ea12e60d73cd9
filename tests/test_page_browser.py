"""The leaderboard page in a real headless Chromium, opened from disk with the network off."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbench.reference_rows import sources
from kbench.report.page import write_page

from .page_runs import HOSTILE, hostile_run, plain_run

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)"),
]
FIRST_VIEW_BYTES = 3_000_000
# Of each plot, whether a canvas in it, shadow roots included, has a pixel that is not transparent.
INKED = """() => [...document.querySelectorAll('[data-plot]')].map((plot) => {
    const parts = (n) => [...(n.shadowRoot ? [n.shadowRoot] : []), ...n.children];
    const inside = (n) => parts(n).flatMap((c) => (c.tagName === 'CANVAS' ? [c] : inside(c)));
    const pixels = (c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    return inside(plot).some((c) => c.width > 100 && pixels(c).some((v) => v)) })"""
INJECT = """() => { const box = document.createElement('div');
    box.innerHTML = "<img src=x onerror='window.owned=1'>"; document.body.append(box);
    const script = document.createElement('script'); script.textContent = 'window.owned=1'; document.body.append(script) }"""
COLOURS = """() => { const style = getComputedStyle(document.documentElement);
    const names = ['--bg', '--panel', '--ink', '--soft', '--accent', '--warn', '--warn-bg'];
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name).trim()])) }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("browser")
    runs = [plain_run(home / name, seed) for seed, name in ((1, "birch"), (2, "alder"), (3, "cedar"))]
    single = plain_run(home / "rowan", 4, samples=1)
    write_page(home / "page", [*runs, single, hostile_run(home / "hostile")], sources(), {str(run) for run in runs})
    return home / "page"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


class View:
    """A page in a browser of its own that is offline; what it complains of is kept."""

    def __init__(self, browser: Any, folder: Path, path: str, width: int = 1280, theme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, offline=True)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.loaded: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", self.on_failed)
        self.page.on("request", lambda request: self.loaded.append(request.url))
        self.page.goto(f"file://{folder}/{path}")

    def on_failed(self, request: Any) -> None:
        """A script that was still loading when a link was followed is no fault of the page."""
        if "ERR_ABORTED" not in (request.failure or ""):
            self.complaints.append(f"failed {request.url[-80:]}")

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def column(self, name: str) -> list[str]:
        """What stands in the visible ranking under a header, from above."""
        script = """name => { const t = [...document.querySelectorAll('table.ranking')].find(t => t.offsetParent);
            const i = [...t.tHead.rows[0].cells].findIndex(c => c.dataset.name === name);
            return [...t.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[i].dataset.value ?? r.cells[i].innerText) }"""
        found: list[str] = self.page.evaluate(script, name)
        return found

    def draw_all(self) -> None:
        """Scrolls through the page until every plot is drawn."""
        for plot in self.page.locator("[data-plot]").all():
            plot.scroll_into_view_if_needed()
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('[data-plot]')].every(p => p.dataset.drawn)", timeout=60_000
        )


def test_a_click_on_a_header_sorts_and_a_second_one_turns_it_round(browser: Any, folder: Path) -> None:
    with View(browser, folder, "index.html") as view:
        header = view.page.locator("table.ranking:visible th[data-name=pass_rate]").first
        header.locator("button").click()
        values = [float(v) for v in view.column("pass_rate")]
        assert values == sorted(values, reverse=True)
        assert len(set(values)) > 1
        assert header.get_attribute("aria-sort") == "descending"
        header.locator("button").click()
        assert [float(v) for v in view.column("pass_rate")] == sorted(values)
        assert view.complaints == []


def test_sorting_works_from_the_keyboard(browser: Any, folder: Path) -> None:
    with View(browser, folder, "index.html") as view:
        view.page.locator("table.ranking:visible th[data-name=model] button").first.focus()
        view.page.keyboard.press("Enter")
        names = [name.split()[0].lower() for name in view.column("model")]
        assert names == sorted(names)


def test_the_filter_shows_only_the_models_that_match(browser: Any, folder: Path) -> None:
    with View(browser, folder, "index.html") as view:
        view.page.fill("#find", "CEDAR")
        shown = view.page.locator("table.ranking:visible tbody tr:visible")
        assert shown.count() == 1
        assert "local/cedar" in shown.inner_text()
        assert view.page.locator("#shown").inner_text() == "1 row"


def test_levels_are_chosen_and_their_tables_shown(browser: Any, folder: Path) -> None:
    with View(browser, folder, "index.html") as view:
        before = view.column("pass_rate")
        view.page.locator(".levels label", has_text="level 2").click()
        assert view.page.locator("table.ranking:visible").first.get_attribute("data-level") == "level2"
        assert view.column("pass_rate") != before
        assert view.page.locator("table.published tr[data-scope=level1]:visible").count() == 0
        assert view.page.locator("table.published tr[data-scope=level2]:visible").count() == 6


def test_every_plot_is_drawn_without_a_complaint(browser: Any, folder: Path) -> None:
    for path in ("index.html", "model/cedar.html"):
        with View(browser, folder, path) as view:
            view.draw_all()
            inked = view.page.evaluate(INKED)
            assert inked
            assert all(inked)
            assert view.complaints == []


def test_plots_change_their_ink_with_the_theme(browser: Any, folder: Path) -> None:
    script = "() => [...Bokeh.documents[0]._all_models.values()].find(m => m.type === 'Title').text_color"
    with View(browser, folder, "index.html", theme="light") as view:
        view.draw_all()
        light = view.page.evaluate(script)
        view.page.click("#theme")
        assert view.page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert view.page.evaluate(script) != light
        view.page.reload()
        assert view.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_first_view_is_light_and_nothing_comes_from_a_network(browser: Any, folder: Path) -> None:
    with View(browser, folder, "index.html") as view:
        view.draw_all()
        assert all(url.startswith(("file://", "data:", "blob:")) for url in view.loaded), view.loaded
        files = {Path(url.removeprefix("file://")) for url in view.loaded if url.startswith("file://")}
        assert sum(path.stat().st_size for path in files) < FIRST_VIEW_BYTES
        assert not [path for path in files if "details" in str(path)]


def test_links_lead_from_the_ranking_to_a_model_to_a_problem_and_back(browser: Any, folder: Path) -> None:
    with View(browser, folder, "index.html") as view:
        view.page.locator("table.ranking:visible a", has_text="local/cedar").click()
        assert view.page.locator("h1").inner_text() == "local/cedar"
        view.page.locator("#problems a").first.click()
        view.page.wait_for_selector("#attempts tbody tr")
        assert view.page.locator("h1").inner_text() == "level1/1_p"
        view.page.locator("nav a", has_text="leaderboard").click()
        assert view.page.locator("table.ranking:visible a", has_text="local/cedar").count() == 1
        assert view.complaints == []


def test_the_code_and_evidence_of_an_attempt_come_when_asked_for(browser: Any, folder: Path) -> None:
    with View(browser, folder, "problem/level1-1_p.html") as view:
        view.page.wait_for_selector("#attempts tbody tr")
        assert not [url for url in view.loaded if "details" in url]
        button = view.page.locator("#attempts button[aria-expanded]").first
        button.click()
        view.page.wait_for_selector("pre")
        assert view.page.locator("pre").first.inner_text() == "class ModelNew:\n    pass\n"
        assert button.get_attribute("aria-expanded") == "true"
        button.click()
        assert view.page.locator("pre").first.is_visible() is False
        assert view.complaints == []


@pytest.mark.parametrize("path", ["index.html", "problems.html", "model/hostile.html"])
def test_hostile_names_stay_text(browser: Any, folder: Path, path: str) -> None:
    with View(browser, folder, path) as view:
        if path != "problems.html":
            view.draw_all()
        assert view.page.evaluate("window.owned") is None
        assert view.page.locator("img").count() == 0
        assert "<script>window.owned=1</script>" in view.page.locator("body").inner_text()
        assert view.complaints == []


def test_hostile_code_and_evidence_stay_text(browser: Any, folder: Path) -> None:
    [path] = (folder / "problem").glob("*evil*.html")
    with View(browser, folder, f"problem/{path.name}") as view:
        view.page.locator("#attempts button[aria-expanded]").click()
        view.page.wait_for_selector("pre")
        assert view.page.locator("pre").first.text_content() == HOSTILE
        assert view.page.evaluate("window.owned") is None
        assert view.page.locator("#attempts img").count() == 0
        assert view.complaints == []


def test_an_injected_script_would_not_run(browser: Any, folder: Path) -> None:
    with View(browser, folder, "index.html") as view:
        view.page.evaluate(INJECT)
        view.page.wait_for_timeout(200)
        assert view.page.evaluate("window.owned") is None


@pytest.mark.parametrize("path", ["index.html", "model/cedar.html", "problem/level1-1_p.html", "problems.html"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_never_scrolls_sideways(browser: Any, folder: Path, path: str, theme: str) -> None:
    with View(browser, folder, path, width=390, theme=theme) as view:
        view.page.wait_for_timeout(300)
        assert view.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for(browser: Any, folder: Path, theme: str) -> None:
    with View(browser, folder, "index.html", theme=theme) as view:
        colours = view.page.evaluate(COLOURS)
    for ink, ground in (
        ("--ink", "--bg"),
        ("--soft", "--bg"),
        ("--soft", "--panel"),
        ("--accent", "--bg"),
        ("--warn", "--warn-bg"),
    ):
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def contrast(first: str, second: str) -> float:
    """WCAG 2.1, section 1.4.3."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
