"""What a Python text defines, told from its syntax tree. Nothing here is ever executed."""

from __future__ import annotations

import ast
import hashlib
import threading
import warnings
from collections.abc import Iterator
from functools import lru_cache

# CPython's conversion between its tree and Python's counts its depth per interpreter, not per thread (a SystemError, seen in
# 3.11.7, where two threads parse at once), and catch_warnings changes the filters of all threads.
_PARSING = threading.Lock()
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def source_hash(source: str) -> str:
    """sha256 of a solution's text as it is stored, surrogates standing for the bytes that are no UTF-8."""
    return hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()


@lru_cache(maxsize=64)  # a reply is looked at several times: is there code in it, is it whole, in what language
def parse(source: str | bytes) -> ast.Module:
    """The tree of a whole module, to be read only. SyntaxError for whatever Python cannot read: null bytes, too deep."""
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in someone's text is no news to whoever runs kbench
        try:
            return ast.parse(source)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from error


def module_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement that runs when the module is imported, in order, also inside if, try, with, for, while, match."""
    pending: list[ast.AST] = list(reversed(tree.body))  # a stack, not recursion: a long elif chain nests without limit
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            children = (c for c in ast.iter_child_nodes(node) if isinstance(c, BLOCKS))
            pending.extend(reversed(list(children)))


def defined_names(tree: ast.Module) -> frozenset[str]:
    """The names that a module binds at its top level; "*" stands for what a star import may bring."""
    return frozenset(name for statement in module_statements(tree) for name in _bound_by(statement))


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Import() | ast.ImportFrom():
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        case ast.Assign():
            for target in statement.targets:
                yield from _targets(target)
        case ast.AnnAssign(value=ast.expr()):
            yield from _targets(statement.target)


def _targets(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
