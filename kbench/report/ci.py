"""What a CI server reads: JUnit XML, GitHub's step summary and annotations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from kbench.comparison import Comparison
from kbench.files import cannot_write, write_atomic
from kbench.gates import NEW_FAILURE, Ruling

SUMMARY_LIMIT = 1_000_000  # bytes; GitHub drops a step's summary above 1 MiB


def junit(comparison: Comparison, rulings: Sequence[Ruling]) -> str:
    """One test case a rule and one a problem. A problem fails only where a rule about new failures was asked for, so that
    the file never fails a job that kbench passed."""
    suites = ElementTree.Element("testsuites", name="kbench compare")
    suite = ElementTree.SubElement(suites, "testsuite", name=_xml(f"{comparison.new} against {comparison.base}"))
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for classname, name, outcome, text in _cases(comparison, rulings):
        case = ElementTree.SubElement(suite, "testcase", classname=classname, name=_xml(name), time="0")
        counts["tests"] += 1
        if outcome is not None:
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[outcome]] += 1
            ElementTree.SubElement(case, outcome, message=_xml(text))
        elif text:
            ElementTree.SubElement(case, "system-out").text = _xml(text)
    for key, count in counts.items():
        suite.set(key, str(count))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _cases(comparison: Comparison, rulings: Sequence[Ruling]) -> Iterator[tuple[str, str, str | None, str]]:
    for ruling in rulings:
        outcome = {True: "failure", False: None, None: "error"}[ruling.fired]
        yield "kbench.gate", ruling.rule.text, outcome, ruling.sentence
    strict = any(ruling.rule.metric == NEW_FAILURE for ruling in rulings)
    texts: dict[str, list[str]] = {}
    for flip in comparison.flips:
        texts.setdefault(flip.problem, []).append(f"{flip.kind}: {flip.base} -> {flip.new}")
    for problem in comparison.paired_problems:
        failed = strict and problem in comparison.lost_problems
        level, _, name = problem.partition("/")
        yield f"kbench.{level}", name, "failure" if failed else None, "; ".join(texts.get(problem, []))
    for key in comparison.unpaired:
        level, _, name = key.partition("/")
        yield f"kbench.{level}", name, "skipped", "not scored in both runs"


def _xml(text: str) -> str:
    """Without the characters that XML 1.0 has no way to write."""
    return "".join(
        c for c in text if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    )


def workflow_commands(comparison: Comparison, rulings: Sequence[Ruling]) -> Iterator[str]:
    """GitHub workflow commands: an error a rule that fired or cannot be answered, a notice a problem that newly fails."""
    for ruling in rulings:
        if ruling.fired is not False:
            yield _command("error", f"kbench gate {ruling.rule.text}", ruling.sentence)
    for flip in comparison.flips:
        if flip.kind == "newly failing":
            yield _command("notice", f"newly failing: {flip.problem}", f"{flip.base} -> {flip.new}")
    if comparison.unpaired:
        yield _command("warning", "kbench: not scored in both runs", ", ".join(comparison.unpaired[:20]))


def _command(kind: str, title: str, text: str) -> str:
    """Escaped as GitHub asks, so that a candidate's words cannot become a command of their own."""
    data = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    name = title.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{data}"


def write_junit(path: Path, comparison: Comparison, rulings: Sequence[Ruling]) -> None:
    write_atomic(path, junit(comparison, rulings))


def append_step_summary(markdown: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Adds to the step's summary where GitHub names a file for it. ConfigError where that cannot be written."""
    name = environment.get("GITHUB_STEP_SUMMARY")
    if not name:
        return False
    try:
        with Path(name).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(markdown.encode("utf-8", "backslashreplace")[:SUMMARY_LIMIT].decode("utf-8", "ignore") + "\n")
    except OSError as error:
        raise cannot_write(Path(name), error) from error
    return True


def on_github(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("GITHUB_ACTIONS") == "true"
