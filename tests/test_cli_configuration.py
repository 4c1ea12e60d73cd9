"""A flag goes before its variable, that before the file, that before the default."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from kbench.cli.configuration import configured
from kbench.errors import ConfigError
from tests.test_cli import run


def resolved(arguments: list[str]) -> dict[str, object]:
    @click.command(name="try")
    @click.option("--model", "model_name", required=True)
    @click.option("--max-cost", type=float, default=1.0)
    @click.option("-p", "--problem", multiple=True)
    @click.option("--quick", is_flag=True)
    def inner(**flags: object) -> dict[str, object]:
        return flags

    group = click.Group(commands={"try": configured(inner, ("try", "other"))})
    found: dict[str, object] = group.main(["try", *arguments], standalone_mode=False)
    return found


def test_the_order_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.toml"
    file.write_text(
        'quick = true\nseed = 4\n[try]\nmodel = "of the file"\nmax-cost = 5\nproblem = ["a", "b"]\n[other]\nx = 1\n'
    )
    told = ["--config", str(file)]
    assert resolved(told) == {"model_name": "of the file", "max_cost": 5.0, "problem": ("a", "b"), "quick": True}
    monkeypatch.setenv("KBENCH_MODEL", "of the variable")
    monkeypatch.setenv("KBENCH_MAX_COST", "7")
    assert resolved(told)["model_name"] == "of the variable"
    assert resolved([*told, "--max-cost", "9"])["max_cost"] == 9.0
    assert resolved([])["max_cost"] == 7.0
    monkeypatch.setenv("KBENCH_CONFIG", str(file))
    assert resolved([])["quick"] is True


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[try]\nmax_cost = 1\n", "has no flag 'max_cost'; did you mean max-cost?"),
        ("[tri]\nmax-cost = 1\n", "[tri] is no command"),
        ("level = [\n", "--config"),
        (None, "No such file"),
    ],
)
def test_a_file_that_cannot_be_is_told(tmp_path: Path, text: str | None, says: str) -> None:
    file = tmp_path / "a.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigError) as error:
        resolved(["--config", str(file), "--model", "m"])
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_wrong_value_in_the_file_is_one_line_and_exit_two(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('[run]\nmodel = "builtin/eager"\nsamples = 0\n')
    code, _, err = run(capsys, "run", "--config", str(file))
    assert code == 2
    assert "--samples" in err
    assert len(err.strip().splitlines()) == 1
