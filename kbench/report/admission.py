"""What `kbench problems check` found, as a table and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from kbench.findings import Admission, Outcome, Standing, total_score

STYLES = {Standing.OK: "green", Standing.DOUBT: "yellow", Standing.FAULT: "red", Standing.UNKNOWN: "yellow"}


def admissions_table(admissions: Sequence[Admission]) -> Table:
    """One row a problem and shape."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("problem", "shapes", "verdict", "mutants killed", "s", "first cause"):
        right = column in ("mutants killed", "s")
        table.add_column(column, no_wrap=column != "first cause", justify="right" if right else "left")
    for admission in admissions:
        standing, (killed, total) = admission.standing(), admission.score
        first = next(iter(admission.of(standing)), None) if standing is not Standing.OK else None
        table.add_row(
            admission.problem_id, shape_of(admission), Text(str(standing), style=STYLES[standing]),
            f"{killed}/{total}" if total else "-", f"{admission.seconds:.0f}", Text(first.evidence if first else ""),
        )  # fmt: skip
    return table


def shape_of(admission: Admission) -> str:
    cut = ", ".join(f"{name} {was} -> {now}" for name, (was, now) in admission.reduced.items())
    return f"{admission.shapes} ({cut})" if cut else admission.shapes


def remarks(admissions: Sequence[Admission]) -> Iterator[str]:
    """Every fault and doubt by name, then the score."""
    for admission in admissions:
        for standing in (Standing.FAULT, Standing.UNKNOWN, Standing.DOUBT):
            for finding in admission.of(standing):
                yield f"{admission.problem_id} ({admission.shapes}): {standing}: {finding.check}: {finding.evidence}"
    killed, total = total_score(admissions)
    alike = sum(trial.outcome is Outcome.EQUIVALENT for a in admissions for trial in a.trials)
    if total:
        yield f"mutants killed: {killed} of {total}; {alike} more are the right answer by nature and not counted"
    faults = sum(admission.standing() is Standing.FAULT for admission in admissions)
    yield f"{len(admissions) - faults} of {len(admissions)} checks without a fault"
