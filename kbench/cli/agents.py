"""Flags of a run whose attempts are episodes of an agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kbench.cli.asking import seconds
from kbench.cli.options import Number
from kbench.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])
CONTRACTS = ("auto", "single", "cuda-agent")  # as in agent, not imported here


def agent_options(function: F) -> F:
    """The flags below; they matter with --agent, and to agent/PRESET."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS = (
    click.option("--agent", is_flag=True, help="let the model work with tools in a folder: shell, files, compile, verify, profile"),
    click.option("--max-turns", type=click.IntRange(min=1), default=200, show_default=True, help="replies of an episode"),
    click.option("--agents", type=click.IntRange(1, 64), default=4, show_default=True, help="episodes at once"),
    click.option("--context", type=click.IntRange(min=1), default=131072, show_default=True, metavar="TOKENS",
                 help="an episode ends when a turn took so many"),
    click.option("--task-time", default="4h", show_default=True, metavar="TIME", help="of an episode: 90s, 30m, 4h"),
    click.option("--command-time", type=Number(min=1), default=600.0, show_default=True, help="seconds a shell command may take"),
    click.option("--contract", type=click.Choice(CONTRACTS), default="auto", show_default=True,
                 help="the folder: one file, or the layout of arXiv 2602.24286; auto is the latter on a GPU"),
    click.option("--workdir-template", type=click.Path(path_type=Path, file_okay=False), help="a folder of your own in its place"),
    click.option("--tools", "tools_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.toml",
                 help="names and schemas of the tools"),
)  # fmt: skip


def agent_of(model: Any, flags: dict[str, Any]) -> Any:
    """The settings of an agent's run; None where it is none. ConfigError where --agent goes with a model that is not asked."""
    from kbench.agent import AgentSettings
    from kbench.agent.command import Program
    from kbench.cli.planning import Unopened
    from kbench.models.remote import Remote

    if not flags.get("agent") and not isinstance(model, Program):
        return None
    if not isinstance(model, (Remote, Program, Unopened)):
        raise ConfigError(
            f"--agent: {model.name} cannot be asked; give a model behind an API, local/NAME or agent/PRESET"
        )
    if flags.get("turns", 1) > 1:
        raise ConfigError("--turns is for runs without tools; with --agent give --max-turns")
    template, tools = flags.get("workdir_template"), flags.get("tools_file")
    time_s = seconds(flags["task_time"])
    assert time_s is not None
    return AgentSettings(
        flags["max_turns"], flags["context"], flags["contract"], None if template is None else str(template),
        None if tools is None else str(tools), flags["command_time"], time_s, agents=flags["agents"],
    )  # fmt: skip


def dry_run(model: Any, flags: dict[str, Any]) -> int:
    """Prints what an agent is told of the first problem, and how many episodes there are."""
    from kbench.agent.contract import contract_for
    from kbench.cli.planning import plan_of

    if flags["as_json"]:
        raise ConfigError("--json: what an agent would be told is a text; leave it out with --agent --dry-run")
    plan = plan_of(model, flags)
    episodes = len(plan.problems) * plan.samples
    if plan.problems:
        contract = contract_for(plan.problems[0], plan.target, plan.agent.contract, plan.agent.template)
        click.echo(contract.task)
        click.echo(f"===== {model.name}, contract {contract.name}: {', '.join(sorted(contract.files))} =====\n")
    click.echo(f"episodes: {episodes}, of up to {plan.agent.max_turns} turns; none is begun by --dry-run")
    click.echo(worst_case_line(model, episodes, plan.agent))
    return 0


def worst_case_line(model: Any, episodes: int, agent: Any) -> str:
    """What the episodes can cost at most: every turn with a full context and a reply of the largest size."""
    from kbench.agent.command import Program
    from kbench.models.prices import worst_case
    from kbench.words import dollars_at_most

    if isinstance(model, Program):
        return "worst-case cost: not known, since a program asks by itself; kbench cannot hold it to a budget"
    turns = episodes * agent.max_turns
    each = worst_case(model.provider, model.model, model.max_tokens, (), agent.context_tokens)
    if each.tokens is None:
        return "worst case: not known, since this model's replies have no token limit; give --max-tokens"
    tokens = f"worst case: some {turns * each.tokens} tokens in {turns} turns, each with a full context"
    if each.cost_usd is None:
        return f"{tokens}; its cost is not known, since the model has no known price"
    all_of_it, one = dollars_at_most(turns * each.cost_usd, 2), dollars_at_most(each.cost_usd)
    return f"{tokens}: {all_of_it}, at most {one} a turn; --max-cost holds it to less"
