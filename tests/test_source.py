from __future__ import annotations

import subprocess
import sys

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


# In a process of its own: at each collection of garbage another thread may run, as where a socket is closed by it.
PARSES_IN_THREADS = """
import gc, time
from concurrent.futures import ThreadPoolExecutor
from kbench.source import parse

source = ("x = " + "(1 + " * 30 + "1" + ")" * 30 + chr(10)) * 20
gc.set_threshold(50)
gc.callbacks.append(lambda phase, info: time.sleep(0.0002))
with ThreadPoolExecutor(4) as pool:
    print(set(pool.map(lambda _: len(parse(source).body), range(20))))
"""


def test_many_threads_may_parse_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", PARSES_IN_THREADS], capture_output=True, text=True, check=False)
    assert done.stdout == "{20}\n", done.stderr
