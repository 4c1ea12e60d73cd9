"""What a candidate wrote does nothing to a terminal, nor to the runner of a CI job."""

from __future__ import annotations

import pytest

from kbench.inert import inert, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext: a::b #[x]", "plain\n\ttext: a::b #[x]"),
        ("::error::gone", ". ::error::gone"),
        ("first\n   ::stop-commands::x\nlast", "first\n   . ::stop-commands::x\nlast"),
        ("said ##[add-mask]correct", "said # #[add-mask]correct"),
        ("\x1b[2Jclean\x07 \ud800", "?[2Jclean? ?"),
        ("\u2028::error::x", "?::error::x"),
    ],
)
def test_nothing_in_it_acts(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_a_line_has_no_breaks_and_an_end() -> None:
    assert one_line("a\n::error::b\tc") == "a . ::error::b c"
    assert one_line("x" * 200, 10) == "x" * 9 + "…"
