"""A problem made smaller: module constants that get_inputs() uses are reduced, so that what fits only a GPU is tried on a CPU.

The text is rewritten, nothing runs here. Which constants, and how far, is decided by measured sizes: the constants that the
constructor does not see go first (the batch), in the order in which get_inputs() names them.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator

from kbench.source import parse

LEAST_FIRST, LEAST = 2, 8  # the first constant is most often the batch; a pair of rows is enough of it
TRIES = 40
_FOLDED = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow,
}  # fmt: skip

Measure = Callable[[str], float | None]  # a source -> how many times too large it is; None where it does not run


def shrunk(source: str, measure: Measure) -> dict[str, int]:
    """The values of constants at which `measure` finds the problem small enough, or as small as it gets this way."""
    values: dict[str, int] = {}
    known = constants(source)
    excess = measure(source)
    names, tries = order_of(source), TRIES
    for position, name in enumerate(names):
        least = LEAST_FIRST if position == 0 else LEAST
        while excess is not None and excess > 1 and tries:
            value = values.get(name, known[name])
            wanted = max(least, value // (2 ** steps_of(excess) if position == 0 else 2))
            if wanted >= value:
                break
            tries -= 1
            found = measure(reduced(source, values | {name: wanted}))
            if found is None or found >= excess:
                break
            values, excess = values | {name: wanted}, found
    return values


def steps_of(excess: float) -> int:
    """Halvings that make up for it, where a size is proportional to the constant."""
    return next(steps for steps in range(1, 64) if 2**steps >= excess)


def order_of(source: str) -> list[str]:
    """Constants that get_inputs() uses, those that get_init_inputs() does not use first."""
    tree, known = parse(source), constants(source)
    used = {node.name: names_in(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    asked, given = used.get("get_inputs", []), used.get("get_init_inputs", [])
    names = [name for name in dict.fromkeys(asked) if name in known]
    return sorted(names, key=lambda name: name in given)


def names_in(function: ast.FunctionDef) -> list[str]:
    found = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    return [node.id for node in sorted(found, key=lambda node: (node.lineno, node.col_offset))]


def constants(source: str) -> dict[str, int]:
    """Integer constants of the module by name; "shape[0]" is the first element of a tuple."""
    return {name: number for name, node in _slots(parse(source)) if (number := folded(node)) is not None}


def folded(node: ast.expr) -> int | None:
    """The integer that a literal, or arithmetic of literals, stands for."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp) and type(node.op) in _FOLDED:
        left, right = folded(node.left), folded(node.right)
        if left is not None and right is not None and abs(right) < 64 + abs(left):
            return int(_FOLDED[type(node.op)](left, right))
    return None


def _slots(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The expressions that module constants are assigned."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name):
                yield target.id, value
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = zip(target.elts, value.elts, strict=False)
                yield from ((name.id, item) for name, item in pairs if isinstance(name, ast.Name))


def reduced(source: str, values: dict[str, int]) -> str:
    """The source with these constants in place of its own."""
    tree = ast.parse(source)
    for name, node in _slots(tree):
        if name in values:
            _replace(tree, node, ast.Constant(values[name]))
    return ast.unparse(ast.fix_missing_locations(tree))


def _replace(tree: ast.Module, old: ast.expr, new: ast.expr) -> None:
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            if statement.value is old:
                statement.value = new
            elif isinstance(statement.value, ast.Tuple):
                statement.value.elts = [new if item is old else item for item in statement.value.elts]
