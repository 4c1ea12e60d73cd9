from __future__ import annotations

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
