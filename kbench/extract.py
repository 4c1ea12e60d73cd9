"""A model's reply to the source of one solution. Code is only read here, never run, and never mended.

Fences follow CommonMark (0.31, section 4.5) as far as models do. Where they do not, a block's end is told by what
parses: a line of back ticks inside Python code stands in a string, so code that is cut there does not parse.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kbench.source import defined_names, parse

LIST_MARKER = r"(?:[-*+]|\d{1,9}[.)])[ \t]+"
FENCE = re.compile(rf"(?P<before>[ \t]*(?:{LIST_MARKER})?)(?P<fence>`{{3,}}|~{{3,}})(?P<info>.*)")
# Not CommonMark: "Here is the code: ```python". Looked for only in a reply without a usable block.
LATE_FENCE = re.compile(r"(?P<before>(?:.*[^`])?)(?P<fence>`{3,}+)(?P<info>[ \t]*+\w*+[ \t]*+)")
# How code that does not parse shows that it means to define ModelNew.
DEFINITION = re.compile(r"^[ \t]*class[ \t]+ModelNew[ \t]*(?:\(|:[ \t]*(?:#.*)?$)", re.MULTILINE)
BARE_LANGUAGE = {"python", "python3", "py", "cuda", "triton", "cpp", "c++"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CPP_TEXT = re.compile(r"#\s*include\b|PYBIND11_MODULE|\btorch::Tensor\b|\bat::Tensor\b|\.cpp$", re.MULTILINE)
MARKDOWN = {"markdown", "md"}
MOST_IN_STRING = 40  # fences that one open string may hold; bounds the work on a hostile reply


@lru_cache(maxsize=256)  # when it comes in, and when it is judged
def extract(reply_text: str, finished: bool) -> str | None:
    """The source of the last fenced block that defines ModelNew, or None.

    `finished` says that the reply ended by itself: only then does a last fence that never closes count, or a reply
    without a fence, which must parse as a whole. Code that does not parse is returned as it is where it holds
    `class ModelNew`: a compile error is the model's. Surrounding blank lines are removed; one newline ends the text.
    """
    lines = re.split(r"\r\n|\r|\n", reply_text.removeprefix("\ufeff"))
    for opener in (FENCE, LATE_FENCE):
        code = _last_solution(lines, opener, finished)
        if code is not None:
            return code
    whole = _tidy(lines)
    return whole if finished and _defines(whole) else None


def detect_language(source: str) -> str:
    """ "triton", "cuda", "cpp" or "python": what the kernels are written in. An annotation; nothing is decided by it.

    Told from imports, decorators and string literals, not from comments and docstrings; from the bare text where that
    does not parse.
    """
    try:
        nodes = list(ast.walk(parse(source)))
        decorators = [ast.unparse(d) for node in nodes if isinstance(node, FUNCTIONS) for d in node.decorator_list]
    except (SyntaxError, RecursionError):
        return _language("triton" in source, re.findall(r"^[ \t]*@(.*)", source, re.MULTILINE), source)
    imports = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imports |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    literals = [n.value for n in nodes if isinstance(n, ast.Constant) and id(n) not in docstrings]
    text = "\n".join(value for value in literals if isinstance(value, str))
    return _language(any(name.partition(".")[0] == "triton" for name in imports), decorators, text)


def _language(imports_triton: bool, decorators: Sequence[str], text: str) -> str:
    if imports_triton and any(re.search(r"\bjit\b", decorator) for decorator in decorators):
        return "triton"
    if "__global__" in text or any(re.match(r"(?:numba\.)?cuda\.jit\b", decorator) for decorator in decorators):
        return "cuda"
    return "cpp" if CPP_TEXT.search(text) else "python"


@dataclass(frozen=True, slots=True)
class _Block:
    info: str
    code: str
    closed: bool


def _last_solution(lines: Sequence[str], opener: re.Pattern[str], finished: bool, nested: bool = False) -> str | None:
    for block in reversed(list(_blocks(lines, opener))):
        if not block.closed and not finished:
            continue
        if block.info.lower() in MARKDOWN and not nested and not _defines(block.code):
            inner = _last_solution(block.code.split("\n"), FENCE, finished, nested=True)
            if inner is not None:
                return inner
        if _defines(block.code) or (DEFINITION.search(block.code) and _syntax_error(block.code)):
            return block.code
    return None


def _blocks(lines: Sequence[str], opener: re.Pattern[str]) -> Iterator[_Block]:
    at = 0
    while at < len(lines):
        opening = _opening(lines[at], opener)
        if opening is None:
            at += 1
            continue
        width = len(opening["before"].expandtabs(4)) if opener is FENCE else 0
        end = _end_of(lines, at + 1, opening["fence"], width)
        closed = end < len(lines)
        yield _Block(opening["info"].strip(), _code(lines[at + 1 : end], width), closed)
        at = end if closed and _opens_another(lines[end], opening["fence"]) else end + 1


def _opening(line: str, opener: re.Pattern[str]) -> re.Match[str] | None:
    match = opener.fullmatch(line)
    # The info string of a back tick fence holds no back tick; ```x``` in a line of prose is inline code.
    return None if match is None or (match["fence"][0] == "`" and "`" in match["info"]) else match


def _closes(line: str, fence: str) -> bool:
    text = line.strip()
    return len(text) >= len(fence) and set(text) == {fence[0]}


def _opens_another(line: str, fence: str) -> bool:
    """Whether a line inside a block opens a fence with an info string: the block was perhaps never closed."""
    match = _opening(line, FENCE)
    return match is not None and match["fence"].startswith(fence) and match["info"].strip() != ""


def _end_of(lines: Sequence[str], start: int, fence: str, width: int) -> int:
    """The line that ends the block which starts here; len(lines) where it never closes.

    A closing fence, or a further opening one at the margin, unless the code so far stands in an open triple-quoted
    string. Where that string is never closed the code is broken, and the first closing fence counts after all.
    """
    first_closer, in_string_at, broken = len(lines), 0, False
    for at in range(start, len(lines)):
        closes = _closes(lines[at], fence)
        if not closes and not _opens_another(lines[at], fence):
            continue
        error = "broken before" if broken else _syntax_error(_code(lines[start:at], width))
        if error is None:
            return at
        if "unterminated triple-quoted" in error and in_string_at < MOST_IN_STRING:
            in_string_at += 1
            first_closer = min(first_closer, at) if closes else first_closer
            continue
        broken = True
        if _indent(lines[at]) < width + (4 if closes else 1):  # four columns further in is content to CommonMark
            return at
    return first_closer


def _code(lines: Sequence[str], width: int) -> str:
    """The block's text without the fence's indentation, or without the first line's where that is less."""
    first = next((line for line in lines if line.strip()), "")
    width = min(width, _indent(first))
    stripped = [_unindent(line, width) for line in lines]
    at = next((i for i, line in enumerate(stripped) if line.strip()), 0)
    # "python" alone on the first line is a label that slipped out of the info string; python_style = 1 is code.
    if stripped and stripped[at].strip().lower() in BARE_LANGUAGE:
        stripped = stripped[at + 1 :]
    return _tidy(stripped)


def _unindent(line: str, width: int) -> str:
    indent = len(line) - len(line.lstrip(" \t"))
    cut = next((i for i in range(indent + 1) if len(line[:i].expandtabs(4)) >= width), indent)
    return line[cut:]


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


def _tidy(lines: Sequence[str]) -> str:
    blank = [i for i, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[blank[0] : blank[-1] + 1]) + "\n" if blank else ""


def _syntax_error(code: str) -> str | None:
    try:
        parse(code)
    except SyntaxError as error:
        return str(error.msg)
    return None


def _defines(code: str) -> bool:
    try:
        return "ModelNew" in defined_names(parse(code))
    except SyntaxError:
        return False
