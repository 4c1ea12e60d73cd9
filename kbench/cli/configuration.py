"""Where a flag's value comes from: the flag itself, else KBENCH_<FLAG>, else `--config FILE.toml`, else its default.

The file holds flags by their names on the command line, in a table for a command or, for every command that has such a flag,
before all tables:

    level = "1-3"
    [run]
    model = "anthropic/claude-opus-4-8"
    max-cost = 20
"""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import Any

import click

from kbench.errors import ConfigError

PREFIX = "KBENCH_"


def configured(command: click.Command, commands: tuple[str, ...]) -> click.Command:
    """The command, and its own subcommands, with their variables and with --config. `commands`: names a table may have."""
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        configured(inner, commands)
    options = [param for param in command.params if isinstance(param, click.Option)]
    if isinstance(command, click.Group) or any(option.name == "config" for option in options):
        return command
    for option in options:
        option.envvar = option.envvar or PREFIX + flag_of(option).replace("-", "_").upper()
    option = click.Option(
        ["--config"],
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE.toml",
        help="flags by their names, for those that are not given here",
        envvar=f"{PREFIX}CONFIG",
        is_eager=True,
        expose_value=False,
        callback=lambda context, _, path: load(context, path, commands),
    )
    command.params.append(option)
    return command


def flag_of(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def warn_of_variables(context: click.Context) -> None:
    """A line for each KBENCH_ variable that is nearly the name of one of this command's, and is not."""
    known = {str(p.envvar) for p in context.command.params if isinstance(p, click.Option) and p.envvar}
    for name in sorted(name for name in os.environ.keys() - known if name.startswith(PREFIX)):
        close = difflib.get_close_matches(name, known - os.environ.keys(), n=1, cutoff=0.9)
        if close:
            click.echo(f"kbench: WARNING: {name} is set, which nothing reads; did you mean {close[0]}?", err=True)


def load(context: click.Context, path: Path | None, commands: tuple[str, ...]) -> None:
    """The file's values as this command's defaults. ConfigError where it cannot be read or names no flag."""
    warn_of_variables(context)
    if path is None:
        return
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"--config {path}: {getattr(error, 'strerror', None) or error}") from error
    tables = {name: value for name, value in found.items() if isinstance(value, dict)}
    unknown = sorted(set(tables) - set(commands))
    if unknown:
        raise ConfigError(f"--config {path}: [{unknown[0]}] is no command; commands: {', '.join(commands)}")
    options = {flag_of(p): p for p in context.command.params if isinstance(p, click.Option) and p.name != "config"}
    own = tables.get(_command_of(context), {})
    shared = {name: value for name, value in found.items() if name not in tables and name in options}
    for name in own:
        if name not in options:
            close = difflib.get_close_matches(name, options, n=1)
            told = f"; did you mean {close[0]}?" if close else ""
            raise ConfigError(f"--config {path}: {context.command_path} has no flag {name!r}{told}")
    values = {str(options[name].name): value for name, value in {**shared, **own}.items()}
    context.default_map = {**(context.default_map or {}), **values}


def _command_of(context: click.Context) -> str:
    """The first word after kbench."""
    while context.parent is not None and context.parent.parent is not None:
        context = context.parent
    return str(context.info_name)
