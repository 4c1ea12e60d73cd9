"""The leaderboard page, by its files: what is written, that hostile text stays text, and that what is no page is left alone."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kbench.errors import ConfigError
from kbench.reference_rows import sources
from kbench.report.page import write_page
from kbench.report.page.digest import details, slugs
from kbench.source import source_hash
from kbench.store import load
from kbench.types import Status

from .making import record
from .page_runs import HOSTILE, PROBLEMS, hostile_run, plain_run, write

ALLOWED_SCRIPTS = {"assets/page.js", "../assets/page.js"}


class Tags(HTMLParser):
    """Every element's name and attributes, as a browser would see them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    runs = [plain_run(folder / "plain", 1), plain_run(folder / "other", 2), hostile_run(folder / "hostile")]
    write_page(folder / "page", runs, sources())
    return folder / "page"


def tags(path: Path) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(path.read_text())
    return parser.found


def pages(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.html"))


def test_there_is_a_page_a_run_and_a_problem(page: Path) -> None:
    assert len(list((page / "model").iterdir())) == 3
    assert len(list((page / "problem").iterdir())) == len(PROBLEMS) + 1
    assert {"index.html", "problems.html"} <= {path.name for path in pages(page)}


def test_no_page_loads_anything_but_its_own_files(page: Path) -> None:
    for path in pages(page):
        for tag, attributes in tags(path):
            if tag == "script":
                assert attributes["src"] in ALLOWED_SCRIPTS
            if tag == "link":
                assert str(attributes["href"]).startswith(("data:,", "assets/", "../assets/"))
            assert tag not in ("iframe", "object", "embed", "img", "form", "base"), path


def test_every_page_forbids_scripts_that_are_no_files(page: Path) -> None:
    for path in pages(page):
        [policy] = [a["content"] for t, a in tags(path) if a.get("http-equiv") == "Content-Security-Policy"]
        assert policy is not None
        assert "default-src 'none'; script-src 'self';" in policy
        assert "unsafe-eval" not in policy


def test_no_attribute_is_a_script_or_a_hostile_address(page: Path) -> None:
    for path in pages(page):
        for _, attributes in tags(path):
            assert not [name for name in attributes if name.startswith("on")], path
            assert not str(attributes.get("href", "")).startswith("javascript"), path


def test_every_link_leads_to_a_file(page: Path) -> None:
    for path in pages(page):
        for tag, attributes in tags(path):
            target = str(attributes.get("href", ""))
            if tag == "a" and not target.startswith(("#", "https://")):
                assert (path.parent / target.partition("#")[0]).resolve().is_file(), f"{path.name}: {target}"


def test_every_data_file_is_one_call_with_json_arguments(page: Path) -> None:
    found = list((page / "data").rglob("*.js"))
    assert found
    for path in found:
        match = re.fullmatch(
            r"(kbenchDetails|kbenchPlot|kbenchAttempts)\((.*)\);\n", path.read_text("ascii"), re.DOTALL
        )
        assert match, path
        assert len(json.loads(f"[{match[2]}]")) == 2


def test_a_folder_that_is_a_link_shows_nothing_of_where_it_leads(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "reply.txt").write_text("my own")
    place = tmp_path / "run" / "artifacts" / "level1/1_a"
    place.mkdir(parents=True)
    (place / "0").symlink_to(elsewhere)
    assert details(record("level1/1_a", Status.REFUSED, verdict=None), tmp_path / "run")["reply"] is None


def test_code_that_was_exchanged_after_it_was_judged_is_not_shown(tmp_path: Path) -> None:
    place = tmp_path / "artifacts" / "level1/1_a" / "0"
    place.mkdir(parents=True)
    (place / "solution.py").write_text("class ModelNew: ...\n")
    judged = record("level1/1_a", solution_hash=source_hash("class ModelNew: ...\n"))
    assert details(judged, tmp_path)["code"] == "class ModelNew: ...\n"
    (place / "solution.py").write_text("class Better: ...\n")
    assert "is not the one that was judged" in details(judged, tmp_path)["code"]


def test_the_code_and_evidence_of_an_attempt_are_whole_in_its_data(page: Path) -> None:
    [path] = (page / "data" / "details" / "hostile").glob("*evil*.js")
    [found] = json.loads(
        path.read_text().removeprefix('kbenchDetails("hostile/').partition('",')[2].removesuffix(");\n")
    )
    assert found["code"] == HOSTILE
    assert [gate[1] for gate in found["gates"]] == [True, False]


def test_a_column_of_which_nothing_is_known_is_left_out(tmp_path: Path) -> None:
    free = write(tmp_path / "free", [record("level1/1_p", eager=1.2, compiled=1.1)], "local/free", {}, 1)
    for runs, there in (([free], False), ([free, plain_run(tmp_path / "paid", 1)], True)):
        write_page(tmp_path / "page", runs, ())
        heads = {a.get("data-name") for t, a in tags(tmp_path / "page" / "index.html") if t == "th"}
        assert ("cost" in heads, "surely_faster_compile" in heads) == (there, there)
        assert {"rank", "model", "pass_rate", "faster_compile"} <= heads


def test_a_problems_id_leads_nowhere_but_into_the_run(tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "0" / "solution.py"
    secret.parent.mkdir(parents=True)
    secret.write_text("not yours")
    climbing = "level1/../../../secret"
    assert (tmp_path / "run/artifacts" / climbing / "0" / "solution.py").resolve() == secret
    (tmp_path / "run/artifacts/level1").mkdir(parents=True)
    with pytest.raises(ValueError, match="leads elsewhere"):  # a reader of such a run refuses its line
        details(record(climbing, solution_hash="0" * 64), tmp_path / "run")


def test_slugs_are_safe_and_never_shared() -> None:
    names = ["a/b", "a b", "../..", "", "A-B", "x" * 300, "con\x00", "<b>"]
    found = slugs(names)
    assert len({slug.lower() for slug in found}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,89}", slug) for slug in found)


def test_a_folder_that_is_no_page_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigError, match="no kbench page"):
        write_page(tmp_path, [], ())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_page_is_written_anew_in_its_place(tmp_path: Path) -> None:
    first, second = plain_run(tmp_path / "one", 1), plain_run(tmp_path / "two", 2)
    write_page(tmp_path / "page", [first, second], ())
    write_page(tmp_path / "page", [second], ())
    assert [path.stem for path in (tmp_path / "page" / "model").iterdir()] == ["two"]
    assert len(load(first).records) == len(PROBLEMS) * 2
