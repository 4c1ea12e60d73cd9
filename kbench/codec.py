"""Dataclasses to plain JSON values and back, validated. The one place that knows pydantic."""

from __future__ import annotations

from typing import Any, TypeVar

from kbench.errors import SchemaError

T = TypeVar("T")


_adapters: dict[Any, Any] = {}  # building one takes milliseconds


def _adapter(cls: Any) -> Any:
    from pydantic import TypeAdapter

    if cls not in _adapters:
        _adapters[cls] = TypeAdapter(cls)
    return _adapters[cls]


def encode(value: Any) -> Any:
    """A dataclass as JSON-ready dicts, lists, strings and numbers."""
    return _adapter(type(value)).dump_python(value, mode="json")


def decode(cls: type[T], value: Any) -> T:
    """The dataclass that `encode` made. SchemaError names the first field that does not fit."""
    from pydantic import ValidationError

    try:
        result: T = _adapter(cls).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join([cls.__name__, *(str(part) for part in first["loc"])])
        raise SchemaError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error
    return result


def decode_json(cls: type[T], data: bytes) -> T | None:
    """`decode` of JSON text in a third of the time; None where that does not give one, which `decode` then says why."""
    from pydantic import ValidationError

    try:
        result: T = _adapter(cls).validate_json(data)
    except ValidationError:
        return None
    return result
