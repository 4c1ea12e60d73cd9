from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from kbench.errors import ConfigError, ProblemError
from kbench.registry import (
    builtin_root,
    discover,
    find,
    number_of,
    parse_levels,
    read_problem,
    select,
    suite_hash,
)
from kbench.types import Problem

GOOD = """
class Model:
    pass

def get_inputs():
    return []

def get_init_inputs():
    return []
"""


def suite(root: Path, *names: str, text: str = GOOD) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def problem(identifier: str) -> Problem:
    return Problem(identifier, int(identifier[5]), "", "", "")


SOME = [
    problem(i) for i in ("level1/1_Square", "level1/2_ReLU", "level1/10_Softmax", "level2/1_Chain", "level3/4_ReLU")
]


# ---- finding ---------------------------------------------------------------------------------------------------------


def test_problems_are_in_numerical_order_within_their_level(tmp_path: Path) -> None:
    suite(tmp_path, "level2/1_c.py", "level1/10_b.py", "level1/2_a.py", "level1/1_z.py", "level10/1_d.py")
    assert [p.id for p in discover(tmp_path)] == [
        "level1/1_z", "level1/2_a", "level1/10_b", "level2/1_c", "level10/1_d",
    ]  # fmt: skip


def test_a_checkout_with_its_problems_in_a_subfolder_is_found(tmp_path: Path) -> None:
    suite(tmp_path, "KernelBench/level1/1_Name.py", "scripts/1_run.py")
    assert [p.id for p in discover(tmp_path)] == ["level1/1_Name"]


def test_solutions_and_other_files_are_no_problems(tmp_path: Path) -> None:
    suite(
        tmp_path, "level1/019_relu.py", "solutions/level1/019_relu.py", "level1/solutions/1_x.py", "level1/common.py",
        "level1/1_notes.md", "level1/.1_hidden.py",
    )  # fmt: skip
    (tmp_path / "level1" / "2_folder.py").mkdir()
    assert [p.id for p in discover(tmp_path)] == ["level1/019_relu"]


def test_kbenchs_own_problems_are_found_without_a_path() -> None:
    assert all(Path(p.path).is_relative_to(builtin_root()) for p in discover())


def test_a_folder_without_problems_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no problem files") as caught:
        discover(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        discover(tmp_path / "nowhere")


def test_a_level_folder_given_as_the_suite_names_the_folder_to_give(tmp_path: Path) -> None:
    suite(tmp_path, "level1/1_a.py")
    with pytest.raises(ConfigError, match=f"holds it, {tmp_path}"):
        discover(tmp_path / "level1")


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(tmp_path: Path, text: str | bytes) -> Problem:
    path = tmp_path / "1_Name.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_problem(path, 1)


def test_reading_a_problem_executes_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    read(tmp_path, f"open({str(marker)!r}, 'w')\nraise SystemExit(3)\n{GOOD}")
    assert not marker.exists()


def test_constants_are_read_as_literals(tmp_path: Path) -> None:
    text = 'SHAPES = {"small": {"rows": 8}, "odd": {"rows": 7}}\nINPUTS: tuple = ("default", "wide")\n'
    got = read(tmp_path, text + 'SPEC = {"mode": "eval", "noise": ()}\n' + GOOD)
    assert got.shapes == {"small": {"rows": 8}, "odd": {"rows": 7}}
    assert got.inputs == ("default", "wide")
    assert got.spec == {"mode": "eval", "noise": ()}


def test_a_file_without_constants_has_the_defaults(tmp_path: Path) -> None:
    got = read(tmp_path, GOOD)
    assert (got.shapes, got.inputs, got.spec) == ({}, ("default",), {})


def test_the_content_hash_is_sha256_of_the_files_bytes(tmp_path: Path) -> None:
    data = GOOD.replace("\n", "\r\n").encode()
    assert read(tmp_path, data).content_hash == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SHAPES = dict(small={})", ":1: SHAPES is read without running"),
        ("SHAPES = {'small': {'n': 2 ** 4}}", ":1: SHAPES is read without running"),
        ("\nSHAPES = ['small']", ":2: SHAPES must be a dict"),
        ("SHAPES = {'small': 4}", "SHAPES must map a size"),
        ("INPUTS = ()", "INPUTS must be a tuple of names"),
        ("INPUTS = 'signed'", "INPUTS must be a tuple of names"),
        ("SPEC = {1: 2}", "SPEC must be a dict with names"),
    ],
)
def test_a_constant_of_the_wrong_kind_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ProblemError, match=complaint.replace("(", r"\(")):
        read(tmp_path, f"{text}\n{GOOD}")


def test_a_syntax_error_is_named_with_file_and_line_on_one_line(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match=r"1_Name\.py:2: ") as caught:
        read(tmp_path, "import torch\ndef get_inputs(:\n    pass\n")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"x = '\xff\xfe'\n", b"a = 1\x00\n", b"# coding: nonsense\n", b"(" * 5000])
def test_a_file_that_is_not_python_is_a_problem_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ProblemError, match=r"1_Name\.py:"):
        read(tmp_path, data + GOOD.encode())


@pytest.mark.parametrize("name", ["Model", "get_inputs", "get_init_inputs"])
def test_a_missing_part_of_the_contract_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ProblemError, match=f"defines no {name};"):
        read(tmp_path, GOOD.replace(name, "other"))


@pytest.mark.parametrize(
    "text",
    [
        "if True:\n    class Model: pass\nelse:\n    Model = None\n",
        "try:\n    from fast import Model\nexcept ImportError:\n    Model = object\n",
        "from net import Net as Model\n",
        "Model = make()\n",
        "Model: type = make()\n",
        "(Model, other) = make()\n",
        "match 1:\n    case 1:\n        class Model: pass\n",
        "with x:\n    class Model: pass\n",
        "from net import *\n",
    ],
)
def test_a_model_may_be_bound_in_any_way_that_an_import_runs(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text + GOOD.replace("Model", "Other")).name == "1_Name"


# ---- selecting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "levels"), [("1", (1,)), ("2,1", (1, 2)), ("1-3", (1, 2, 3)), (" 1 , 3-4 ", (1, 3, 4)), ("1,1-2", (1, 2))]
)
def test_levels_are_parsed(text: str, levels: tuple[int, ...]) -> None:
    assert parse_levels(text) == levels


@pytest.mark.parametrize("text", ["", "one", "3-1", "1-", "-1", "1,,2", "1.5", "1-999999", "²"])
def test_what_is_no_level_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a level"):
        parse_levels(text)


def test_everything_is_selected_by_default() -> None:
    assert select(SOME) == SOME


def test_levels_and_globs_narrow_together() -> None:
    assert [p.id for p in select(SOME, [1, 2], ["*ReLU", "level2/*"])] == ["level1/2_ReLU", "level2/1_Chain"]


def test_a_glob_may_be_a_bare_name() -> None:
    assert [p.id for p in select(SOME, globs=["10_Softmax"])] == ["level1/10_Softmax"]


def test_problem_1_does_not_select_problem_10() -> None:
    assert [p.id for p in select(SOME, globs=["level1/1_*"])] == ["level1/1_Square"]


def test_the_limit_is_for_each_level() -> None:
    assert [p.id for p in select(SOME, limit=1)] == ["level1/1_Square", "level2/1_Chain", "level3/4_ReLU"]


def test_an_unknown_level_lists_those_that_are_there() -> None:
    with pytest.raises(ConfigError, match="no level 7 here; levels: 1, 2, 3"):
        select(SOME, [1, 7])


def test_a_glob_without_a_match_offers_close_ones() -> None:
    with pytest.raises(ConfigError, match="close: level1/10_Softmax"):
        select(SOME, globs=["10_sofmax"])


def test_each_glob_must_match_something() -> None:
    with pytest.raises(ConfigError, match="no problem matches 'zzz'"):
        select(SOME, globs=["*ReLU", "zzz"])


def test_a_glob_that_matches_in_another_level_only_says_so() -> None:
    with pytest.raises(ConfigError, match="in level 1; elsewhere level2/1_Chain does"):
        select(SOME, [1], ["*Chain"])


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="leaves nothing"):
        select(SOME, limit=0)


def test_one_problem_is_found_by_id_or_by_an_unambiguous_name() -> None:
    assert find(SOME, "level3/4_ReLU").id == find(SOME, "4_ReLU").id == "level3/4_ReLU"


def test_an_unknown_problem_offers_close_ones() -> None:
    with pytest.raises(ConfigError, match="close: level1/2_ReLU"):
        find(SOME, "level1/2_Relu")


def test_a_name_in_two_levels_is_ambiguous() -> None:
    with pytest.raises(ConfigError, match="several levels: level1/2_ReLU, level2/2_ReLU"):
        find([*SOME, problem("level2/2_ReLU")], "2_ReLU")


def test_the_suite_hash_tells_contents_and_not_order() -> None:
    assert suite_hash(SOME) == suite_hash(reversed(SOME))
    assert suite_hash(SOME) != suite_hash([replace(SOME[0], content_hash="x"), *SOME[1:]])


def test_a_problems_number_ignores_leading_zeros() -> None:
    assert number_of("level1/019_relu") == 19
