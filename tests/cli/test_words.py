"""`list`, `explain`, `schema` and the help: everything has a name, and every name is explained."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from harness import cli
from harness.cli import main
from harness.cli.explain import explanation
from harness.cli.list import KINDS
from harness.cli.verbs import VERBS, harness
from harness.core.scenario.scenario import OF_THE_COMMAND, Scenario
from harness.core.values.errors import InputError
from harness.schema import FILES, schema_of
from tests.cli.conftest import Harness as Command


def test_help_names_every_verb(harness: Command) -> None:
    done = harness("--help")
    assert done.returncode == 0
    assert all(f"  {verb} " in done.stdout for verb in VERBS)


def test_the_table_has_a_row_for_each_file_of_a_verb_and_no_other() -> None:
    folder = Path(cli.__path__[0])
    made = {
        path.stem for path in folder.glob("*.py") if "\ndef command(" in path.read_text("utf-8")
    }
    assert made == VERBS.keys(), "a verb is a file with a `command` and a row of VERBS"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_what_the_table_says(verb: str) -> None:
    found = harness.get_command(None, verb)  # type: ignore[arg-type]
    assert found is not None
    names = {option for parameter in found.params for option in parameter.opts}
    assert {"--json", "--debug"} <= names
    assert found.help


def test_a_verb_in_this_process_works_after_all_of_them_were_imported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`harness.cli.list` hides the builtin for the package, once it is imported."""
    with pytest.raises(SystemExit) as ended:
        main(["list", "targets", "--json"])
    assert ended.value.code == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("what", ["faults", "checks", "targets", "formats"])
def test_list(what: str) -> None:
    rows = list(KINDS[what](None))
    assert rows
    assert all(row["name"] and row["title"] for row in rows)
    assert len({row["name"] for row in rows}) == len(rows)


def test_list_scenarios(harness: Command) -> None:
    rows = [json.loads(row) for row in harness("list", "scenarios", "--json").stdout.splitlines()]
    assert [row["name"] for row in rows] == ["greeting", "greeting/polite"]
    assert {row["file"] for row in rows} == {"scenarios/greeting.yaml"}


def test_everything_listed_is_explained() -> None:
    for what in ("faults", "checks"):
        for row in KINDS[what](None):
            for name in (row["name"], *row.get("code", ())):
                assert explanation(name).strip()


def test_a_code_is_explained_by_its_check() -> None:
    assert "V4  (rule of anthropic, defect)" in explanation("valid_request.V4")
    with pytest.raises(InputError, match="did you mean 'no_progress_stop'"):
        explanation("no_progres_stop")


@pytest.mark.parametrize("file", FILES)
def test_schema_prints_the_schema_of_each_kind_of_file(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["schema", file, "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(schema_of(file)))


def test_schema_of_another_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["schema", "scenarios"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "scenarios: no schema for this kind of file; did you mean 'scenario'?" in said


def test_schema_has_every_key_of_a_file() -> None:
    document = schema_of("scenario")
    keys = {field.encode_name for field in msgspec.structs.fields(Scenario)}
    assert set(document["properties"]) == keys - {*OF_THE_COMMAND} | {"variants"}
    assert set(_references(document)) == {f"#/definitions/{n}" for n in document["definitions"]}


def _references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [r for child in value.values() for r in _references(child)]
    return [r for child in value for r in _references(child)] if isinstance(value, list) else []


def test_python_m_and_the_console_script_are_one(folder: Path) -> None:
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="harness")
    assert script.value == "harness.cli:main"
