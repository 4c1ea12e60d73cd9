"""The command line: click commands, one module each, loaded when asked for. Exit codes are given in one place, here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from kbench import __version__
from kbench.cli.configuration import configured
from kbench.errors import KBenchError
from kbench.inert import unbroken

COMMANDS = {
    "run": "ask a model, build, judge, and print the rates of each level",
    "generate": "ask a model and store the replies; needs no device",
    "eval": "judge stored replies, or a kernel in hand: --solution FILE --problem ID",
    "show": "a run, or one attempt with the evidence of each gate",
    "verify": "does a run's summary follow from its raw samples?",
    "leaderboard": "runs ranked per level; Markdown, CSV, JSON, a page",
    "compare": "two runs of the same problems: what changed, and a CI gate on it",
    "export": "KernelBench's eval_results.json and baseline JSON, CSV",
    "attack": "known cheats and honest controls against this installation",
    "problems": "the registry: list, show, check",
    "doctor": "device, toolchain, sandbox, keys; --calibrate for intervals",
}
EXIT_USAGE, EXIT_BUG, EXIT_INTERRUPTED = 2, 4, 130


class LazyGroup(click.Group):
    """Imports a command's module only when that command is used, so that --help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"kbench.cli.{cmd_name}").command
        return configured(command, tuple(COMMANDS))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def group() -> None:
    """kbench judges machine-written GPU kernels: is it right, and how fast is it really?"""


def main(arguments: Sequence[str] | None = None) -> Any:
    """Runs a command and exits: 0 complete, 1 a gate failed, 2 usage, 3 incomplete, 4 a bug in kbench, 130 interrupted."""
    try:
        code = group.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        click.echo(usage_line(error), err=True)
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except KBenchError as error:
        click.echo(f"kbench: {unbroken(str(error))}", err=True)
        sys.exit(EXIT_USAGE)
    except BrokenPipeError:
        sys.exit(EXIT_USAGE)
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo("kbench: this is a bug in kbench; the lines above say where", err=True)
        sys.exit(EXIT_BUG)
    sys.exit(code if isinstance(code, int) else 0)


def usage_line(error: click.ClickException) -> str:
    """What click has to say, in one line that ends in where to read more; without a command the help, whole."""
    text = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    if "\n" in text:
        return text
    return f"kbench: {text}; see {context.command_path} --help" if context is not None else f"kbench: {text}"
