"""How much of a problem's Model is another suite's: their syntax trees as sequences, names and numbers left out.

1.0 is the same code under other names. A single operation has few ways to be written, so a high figure on level 1 says
little; on levels 2 and 3 it says that one was made from the other.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence

from kbench.findings import Finding, Standing
from kbench.source import parse
from kbench.types import Problem

LIKE = 0.95

Shape = tuple[str, ...]


def shapes_of(problems: Sequence[Problem]) -> dict[str, Shape]:
    return {problem.id: shape_of(problem.source) for problem in problems}


def shape_of(source: str) -> Shape:
    """The kinds of nodes of class Model in source order, with what is called; docstrings, names and numbers left out."""
    model = next((n for n in parse(source).body if isinstance(n, ast.ClassDef) and n.name == "Model"), None)
    return tuple(_kinds(model)) if model is not None else ()


def _kinds(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return []
    kinds = [node.attr if isinstance(node, ast.Attribute) else type(node).__name__]
    children = [child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.Load, ast.Store))]
    return kinds + [kind for child in children for kind in _kinds(child)]


def likeness(mine: Shape, other: Shape) -> float:
    return difflib.SequenceMatcher(None, mine, other, autojunk=False).ratio()


def finding(problem: Problem, others: dict[str, Shape]) -> Finding:
    """The most similar model among the others: told always, a doubt from LIKE on."""
    mine = shape_of(problem.source)
    best, name = max(((likeness(mine, shape), name) for name, shape in others.items()), default=(0.0, "none"))
    return Finding("own code", Standing.DOUBT if best >= LIKE else Standing.OK, f"most like {name}: {best:.2f}")
