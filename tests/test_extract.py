"""Replies in the shapes that models write, and hostile ones. Every text here is our own."""

from __future__ import annotations

import ast
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbench.extract import detect_language, extract

CODE = """import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.relu()
"""
OTHER = CODE.replace("relu", "tanh")
DOCUMENTED = CODE.replace(
    "    def forward", '    """An example:\n\n    ```python\n    ModelNew()(x)\n    ```\n    """\n\n    def forward'
)
AT_THE_MARGIN = '"""Use:\n\n```python\nModelNew()\n```\n\nand\n\n```\ntext\n```\n"""\n' + CODE


def fenced(code: str, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{code}{fence}\n"


def indented(text: str, by: str) -> str:
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


# ---- which block -----------------------------------------------------------------------------------------------------


def test_the_only_block_is_taken() -> None:
    assert extract("Here:\n\n" + fenced(CODE) + "\nDone.", True) == CODE


def test_the_last_block_that_defines_modelnew_is_taken() -> None:
    assert extract(fenced(OTHER) + "No, better:\n" + fenced(CODE), True) == CODE


def test_snippets_before_and_after_are_passed_over() -> None:
    reply = fenced("pip install torch\n", "bash") + fenced("def f(x):\n    return x\n") + fenced(CODE)
    assert extract(reply + fenced("model = ModelNew()\n") + fenced("tensor([1])\n", "text"), True) == CODE


def test_a_block_of_another_language_is_no_solution() -> None:
    assert extract(fenced(CODE) + fenced("class ModelNew : public Module {};\n", "cpp"), True) == CODE


def test_a_class_that_a_function_hides_is_no_solution() -> None:
    assert extract(fenced("def make():\n    class ModelNew: pass\n"), True) is None


@pytest.mark.parametrize("code", ["if True:\n    class ModelNew: pass\n", "from m import Net as ModelNew\n"])
def test_modelnew_may_be_bound_in_any_way_that_an_import_runs(code: str) -> None:
    assert extract(fenced(code), True) == code


def test_code_that_does_not_parse_is_the_models_and_is_returned_as_it_is() -> None:
    broken = CODE.replace("self, x", "self, x :")
    assert extract(fenced(OTHER) + fenced(broken), True) == broken


def test_prose_that_speaks_of_modelnew_is_no_solution() -> None:
    assert extract("I would define `class ModelNew(nn.Module):` with ```x * y``` in it.", True) is None


# ---- how a fence looks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fence", ["```", "````", "~~~", "~~~~~~"])
@pytest.mark.parametrize("info", ["", "python", " Python3", 'python title="a.py"', "{.python}"])
def test_a_fence_of_any_length_and_info_string_is_one(fence: str, info: str) -> None:
    assert extract(fenced(CODE, info, fence), True) == CODE


def test_a_shorter_fence_inside_a_longer_one_is_code() -> None:
    assert extract(fenced(AT_THE_MARGIN, fence="````") + "Why four ticks.", True) == AT_THE_MARGIN


def test_a_fence_of_the_other_kind_inside_is_code() -> None:
    assert extract(fenced(AT_THE_MARGIN, fence="~~~"), True) == AT_THE_MARGIN


@pytest.mark.parametrize("code", [DOCUMENTED, AT_THE_MARGIN])
def test_an_equally_long_fence_inside_a_docstring_is_code(code: str) -> None:
    assert extract(fenced(code) + "\nThat is all.\n", True) == code


@pytest.mark.parametrize("by", [" ", "   ", "      ", "\t"])
def test_the_fences_indentation_is_removed(by: str) -> None:
    assert extract("1. Do it:\n\n" + indented(fenced(CODE), by) + "\n2. Done.", True) == CODE


@pytest.mark.parametrize("marker", ["- ", "1. ", "* "])
def test_a_fence_may_stand_right_behind_a_list_marker(marker: str) -> None:
    block = indented(fenced(CODE), " " * len(marker))
    assert extract(marker + block.lstrip(), True) == CODE


def test_code_at_the_margin_of_an_indented_fence_keeps_its_indentation() -> None:
    assert extract(f"   ```python\n{CODE}   ```\n", True) == CODE


def test_a_fence_at_the_end_of_a_line_of_prose_is_found() -> None:
    assert extract("Here is the code: ```python\n" + CODE + "```\nDone.", True) == CODE


def test_a_reply_wrapped_as_markdown_is_looked_into() -> None:
    reply = fenced("# Answer\n\nIt is fast.\n\n" + fenced(CODE), "markdown", "````")
    assert extract(reply, True) == CODE


def test_a_stray_fence_before_the_block_does_no_harm() -> None:
    assert extract("```\n" + fenced(CODE), True) == CODE


def test_a_block_that_was_never_closed_ends_where_the_next_one_opens() -> None:
    assert extract("```python\n" + OTHER + "\nBetter:\n\n" + fenced(CODE), True) == CODE


# ---- what is code and what is not ------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["python_style = 1\n", "cuda = 'x'\n", "py, triton = 1, 2\n", "cpp_source = ''\n"])
def test_a_first_line_that_begins_with_a_language_name_stays(first: str) -> None:
    assert extract(fenced(first + CODE, ""), True) == first + CODE


@pytest.mark.parametrize("label", ["python", "Python", "  py ", "cuda", "c++"])
def test_a_first_line_that_is_a_language_name_is_dropped(label: str) -> None:
    assert extract(fenced(f"{label}\n{CODE}", ""), True) == CODE


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_any_kind_are_read(end: str) -> None:
    assert extract(fenced(CODE).replace("\n", end), True) == CODE


def test_other_separators_inside_a_line_are_no_line_ends() -> None:
    code = 'TEXT = "a\u2028b\x0cc"\n' + CODE
    assert extract(fenced(code), True) == code


# ---- where a reply ends ----------------------------------------------------------------------------------------------


def test_an_unclosed_last_fence_counts_when_the_reply_ended_by_itself() -> None:
    assert extract("So:\n```python\n" + CODE.rstrip("\n"), True) == CODE


def test_an_unclosed_last_fence_of_a_cut_reply_is_no_solution() -> None:
    assert extract("So:\n```python\n" + CODE, False) is None


def test_a_whole_block_before_the_cut_still_counts() -> None:
    assert extract(fenced(CODE) + "Better:\n```python\n" + OTHER, False) == CODE


def test_code_without_a_fence_counts_where_the_whole_reply_is_code() -> None:
    assert extract("\n" + CODE + "\n\n", True) == CODE


@pytest.mark.parametrize(
    "reply",
    ["Here it is:\n" + CODE, "```x * y``` is it:\n" + CODE, "import torch\n", "", "\n\n", "```", "```python\n```"],
)
def test_a_reply_without_a_solution_gives_none(reply: str) -> None:
    assert extract(reply, True) is None


def test_a_cut_reply_without_a_fence_gives_none() -> None:
    assert extract(CODE, False) is None


# ---- properties ------------------------------------------------------------------------------------------------------

PROSE = st.lists(st.sampled_from(["", "Some prose.", "- a point", "`inline` ```code```", "    indented", "> quoted"]))


@given(PROSE, PROSE, st.sampled_from(["```", "````", "~~~"]), st.integers(0, 6), st.sampled_from([CODE, DOCUMENTED]))
def test_a_block_is_found_in_any_prose(before: list[str], after: list[str], fence: str, by: int, code: str) -> None:
    block = indented(fenced(code, fence=fence), " " * by)
    assert extract("\n".join([*before, block, *after]), True) == code


@given(
    st.lists(st.sampled_from(["```", "~~~", "````python", "class ModelNew:", " pass", "'''", '"""', "x y", "  ", "- "]))
)
def test_no_reply_breaks_it_and_what_comes_out_was_in_the_reply(pieces: list[str]) -> None:
    code = extract("\n".join(pieces), True)
    assert code is None or all(line.strip() in "\n".join(pieces) for line in code.splitlines())


@pytest.mark.parametrize(
    "reply",
    [
        "```\nx y\n" * 20_000,
        "x `" * 200_000 + "!",
        "`" * 500_000 + "!",
        "a```" + " " * 300_000 + "!",
        '```python\nx = """\n' + "```\n" * 20_000,
        "```python\nx y\n" + "      ```\n" * 20_000,
        "\n".join("`" * n + "markdown\nx y" for n in range(800, 3, -1)),
    ],
)
def test_a_hostile_reply_takes_no_hostile_time(reply: str) -> None:
    start = time.process_time()
    extract(reply, True)
    assert time.process_time() - start < 10


# ---- language --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("import triton\n@triton.jit\ndef k(): pass\n", "triton"),
        ("from triton import jit\n@jit\ndef k(): pass\n", "triton"),
        ("import triton\n@triton.autotune([], key=[])\n@triton.jit\ndef k(): pass\n", "triton"),
        ("from numba import jit\n@jit\ndef k(): pass\n", "python"),
        ("src = '__global__ void k() {}'\n", "cuda"),
        ("from numba import cuda\n@cuda.jit\ndef k(): pass\n", "cuda"),
        ("src = '#include <torch/types.h>'\n", "cpp"),
        ("load(name='x', sources=['kernel.cpp'])\n", "cpp"),
        ("import torch  # __global__\n", "python"),
        ('"""No __global__ here, and no #include."""\nimport torch\n', "python"),
        (CODE, "python"),
        ("def broken(:\nsrc = '__global__'\n", "cuda"),
        ("import triton\n@triton.jit\ndef broken(:\n", "triton"),
    ],
)
def test_the_language_is_told_from_code_and_not_from_comments(source: str, language: str) -> None:
    assert detect_language(source) == language


def test_the_language_of_a_monstrous_text_is_told_without_a_crash() -> None:
    assert detect_language("@a" + ".b" * 5000 + "\ndef f(): pass\n" + "x = " + "-" * 50_000 + "1") == "python"


def test_the_own_examples_parse() -> None:
    for code in (CODE, OTHER, DOCUMENTED, AT_THE_MARGIN):
        ast.parse(code)
