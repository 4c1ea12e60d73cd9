from __future__ import annotations

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kbench.source import defined_names, parse


@pytest.mark.parametrize("text", ["def f():\n    Model = 1\n", "Model: type\n", "Model.x = 1\n", "print(Model)\n"])
def test_a_name_that_an_import_does_not_bind_is_not_defined(text: str) -> None:
    assert "Model" not in defined_names(parse(text))


def test_a_long_elif_chain_is_read_without_recursion() -> None:
    text = "if a: pass\n" + "elif b: pass\n" * 900 + "else:\n    Model = 1\n"
    assert "Model" in defined_names(parse(text))


@pytest.mark.parametrize("data", [b"a = 1\x00", b"# coding: nonsense\n", b"(" * 5000, b"-" * 100_000 + b"1"])
def test_whatever_python_cannot_read_is_a_syntax_error(data: bytes) -> None:
    with pytest.raises(SyntaxError):
        parse(data)


def test_a_doubtful_escape_in_somebodys_text_warns_nobody() -> None:
    parse("x = '\\d'\n")


class _Garbage:
    """A cycle whose end lets another thread run, as that of a socket does."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0.0005)


def test_many_threads_may_parse_at_once() -> None:
    source = ("x = " + "(1 + " * 30 + "1" + ")" * 30 + "\n") * 20

    def read(_: int) -> int:
        gc.disable()
        for _ in range(30):
            _Garbage()
        gc.enable()
        return len(parse(source).body)

    before = gc.get_threshold()
    gc.set_threshold(20)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(read, range(40))) == {20}
    finally:
        gc.set_threshold(*before)
