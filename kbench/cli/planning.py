"""From flags to a Plan, and what a plan would send: --dry-run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from kbench.cli.options import settings_from
from kbench.errors import ConfigError


def plan_of(model: Any, flags: dict[str, Any], here: bool = True) -> Any:
    """The plan of a run. ConfigError or ProblemError for a selection that cannot be. Not `here`: judged elsewhere."""
    from kbench.budget import Limits
    from kbench.cli.agents import agent_of
    from kbench.cli.asking import limits_of, target_of
    from kbench.evaluate import problem_case
    from kbench.models.remote import Remote
    from kbench.prompts import Target
    from kbench.run import Plan
    from kbench.types import MOST_ATTEMPTS

    settings = settings_from(flags, device_of_hardware(flags, here))
    chosen = chosen_problems(model, flags)
    if len(chosen) * flags["samples"] > MOST_ATTEMPTS:
        raise ConfigError(
            f"--samples {flags['samples']} of {len(chosen)} problems: a run has at most {MOST_ATTEMPTS} attempts; take fewer"
        )
    for problem in chosen:
        problem_case(problem, settings)  # has it these shapes? Before anything is started
    suite = str(flags["suite"]) if flags["suite"] else None
    jobs = flags["build_jobs"] or os.cpu_count() or 1
    agent = agent_of(model, flags)
    asked = isinstance(model, (Remote, Unopened)) or agent is not None
    target, limits = (target_of(flags, settings), limits_of(flags)) if asked else (Target(), Limits())
    return Plan(
        model, tuple(chosen), flags["samples"], settings, suite, jobs, target, flags.get("turns", 1) if asked else 1,
        flags.get("connections", 1), limits, not flags.get("no_reply_cache", False), agent,
    )  # fmt: skip


def device_of_hardware(flags: dict[str, Any], here: bool) -> str | None:
    """The device that --hardware describes, where it is to be judged elsewhere: a GPU unless --device says cpu."""
    from kbench.environment import best_device

    name, hardware = flags["device"], flags.get("hardware")
    if not hardware:
        return None
    if here:
        if name == "auto" and best_device() == "cpu":
            raise ConfigError(
                f"--hardware {hardware}: there is no GPU here; kbench generate needs none, or give --device cpu with it"
            )
        return None
    return "cpu" if name == "cpu" else "cuda:0" if name in ("auto", "cuda") else str(name)


def chosen_problems(model: Any, flags: dict[str, Any]) -> list[Any]:
    from kbench import registry

    problems = registry.discover(flags["suite"])
    chosen = registry.select(problems, wanted_levels(flags["level"], problems), flags["problem"], flags["limit"])
    return [problem for problem in chosen if model_covers(model, problem, flags)]


def run_folder(plan: Any, flags: dict[str, Any]) -> Path:
    name: str = flags["run_id"] or plan.default_id()
    if Path(name).name != name or name in (".", ".."):
        raise ConfigError(f"--run-id {name!r}: give a name without a slash; --results says in which folder")
    return Path(flags["results"]) / name


def wanted_levels(text: str | None, problems: Any) -> tuple[int, ...] | None:
    """The levels that were asked for; without a word all of 1 to 3 that are there (KernelBench's level 4 needs a network)."""
    from kbench import registry

    if text:
        return registry.parse_levels(text)
    return tuple(sorted({problem.level for problem in problems if problem.level <= 3})) or None


def model_covers(model: Any, problem: Any, flags: dict[str, Any]) -> bool:
    """Stored solutions without a word about levels or problems: those problems that they are for."""
    if flags["level"] or flags["problem"] or not hasattr(model, "covers"):
        return True
    return bool(model.covers(problem))


class Unopened:
    """A model of which only the name is known: --dry-run needs no key and no SDK."""

    exempt = False

    def __init__(self, name: str, flags: dict[str, Any]) -> None:
        from kbench.cli.asking import settings_of
        from kbench.models.settings import DEFAULT_MAX_TOKENS

        self.name, self.settings = name, settings_of(flags)
        self.provider, _, self.model = name.partition("/")
        if self.provider not in DEFAULT_MAX_TOKENS:
            raise ConfigError(
                f"{name} cannot be asked; give a model behind an API: {', '.join(DEFAULT_MAX_TOKENS)}/NAME"
            )
        self.max_tokens = self.settings.max_tokens or DEFAULT_MAX_TOKENS[self.provider]


def dry_run(name: str, flags: dict[str, Any], here: bool = True) -> int:
    """Prints the exact prompt of the first problem, how many requests there are, and what they can cost at most."""
    from kbench.models.opening import REMOTE, full_name, open_model
    from kbench.prompts import VERSION, first_prompt
    from kbench.words import counted

    if flags.get("agent") or name.startswith("agent/"):
        from kbench.agent.command import Program
        from kbench.cli import agents

        return agents.dry_run(Program(name) if name.startswith("agent/") else Unopened(full_name(name), flags), flags)
    name = full_name(name)
    remote = name.partition("/")[0] in REMOTE
    model: Any = Unopened(name, flags) if remote else open_model(name)
    plan = plan_of(model, flags, here)
    attempts = len(plan.problems) * plan.samples
    prompts = [first_prompt(problem, plan.target) for problem in plan.problems] if remote else []
    told = worst_case_lines(model, plan, prompts) if prompts else []
    if flags["as_json"]:
        facts = {
            "model": name, "prompt_version": VERSION, "problems": [p.id for p in plan.problems], "samples": plan.samples,
            "turns": plan.turns, "requests": attempts * plan.turns if prompts else 0, "remarks": told,
            "prompts": {p.id: {"system": q.system, "user": q.user} for p, q in zip(plan.problems, prompts, strict=False)},
        }  # fmt: skip
        click.echo(json.dumps(facts))
        return 0
    if not prompts:
        click.echo(
            f"{name}: {counted(attempts, 'attempt')} at {counted(len(plan.problems), 'problem')}; no request is sent"
        )
        return 0
    click.echo(f"===== system =====\n\n{prompts[0].system}\n===== user =====\n\n{prompts[0].user}")
    levels = sorted({problem.level for problem in plan.problems})
    counts = ", ".join(f"level {level}: {sum(p.level == level for p in plan.problems)}" for level in levels)
    click.echo(f"===== {name}, prompt version {VERSION} =====\n")
    click.echo(f"the prompt above is that of {plan.problems[0].id}")
    click.echo(f"problems: {len(plan.problems)} ({counts}); samples: {plan.samples}; turns: up to {plan.turns}")
    click.echo(f"requests: up to {attempts * plan.turns}; none is sent by --dry-run")
    for line in told:
        click.echo(line)
    return 0


def worst_case_lines(model: Any, plan: Any, prompts: Any) -> list[str]:
    from kbench.models.prices import most_input_tokens, worst_case
    from kbench.prompts import DETAIL_CHARS
    from kbench.words import dollars_at_most

    def of_turn(prompt: Any, turn: int) -> Any:
        # What a later turn repeats: the replies before it, and the referee's words on them.
        before = turn * ((model.max_tokens or 0) + 2 * DETAIL_CHARS)
        return worst_case(model.provider, model.model, model.max_tokens, (prompt.system, prompt.user), before)

    amounts = [of_turn(prompt, turn) for prompt in prompts for turn in range(plan.turns)]
    longest = max(most_input_tokens((prompt.system, prompt.user)) for prompt in prompts)
    lines = [f"longest prompt: at most {longest} tokens (a token a byte; about {longest // 4} by experience)"]
    if any(amount.tokens is None for amount in amounts):
        return [*lines, "worst case: not known, since this model's replies have no token limit; give --max-tokens"]
    lines.append(
        f"worst case: {sum(a.tokens for a in amounts) * plan.samples} tokens, {model.max_tokens} of them in each reply"
    )
    if any(amount.cost_usd is None for amount in amounts):
        return [*lines, "worst-case cost: not known, since the model has no known price; --max-cost would be refused"]
    each = max(amount.cost_usd for amount in amounts)
    total = sum(amount.cost_usd for amount in amounts) * plan.samples
    return [*lines, f"worst-case cost: {dollars_at_most(total, 2)}, at most {dollars_at_most(each)} a request"]
