"""For any file content each verb reports one line, runs nothing, and reads no more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness.cassettes.cassette_file import load_cassette
from harness.cli.selection import cassettes_of, scenarios_of_cassette
from harness.core.values.errors import InputError
from harness.files import load_scenarios, regular_file
from harness.files.recording_file import read_any_recording
from tests.cassettes.recorded import ASK, cassette, interaction

WHOLE = cassette(interaction({**ASK, "system": "Malmö"}), interaction())
_ALIASES = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)
BOMB = f"a: &a [x, x, x, x, x, x, x, x, x]\n{_ALIASES}interactions: *j\nversion: 1\n".encode()


def _judge(path: Path) -> object:
    return read_any_recording(path)


def _load(path: Path) -> object:
    return load_cassette(path)


def _run(path: Path) -> object:
    found = cassettes_of(path)
    return [list(scenarios_of_cassette(file, path)) for file in found] or load_scenarios(path)


VERBS: dict[str, Callable[[Path], object]] = {"judge": _judge, "load": _load, "run": _run}

BAD: dict[str, tuple[bytes, str]] = {
    "torn": (WHOLE.removesuffix(b"version: 1\n") + b'- request: {body: "', "not YAML"),
    "binary": (b"interactions:\n\0\1\2", "binary|not UTF-8|UTF-8|not YAML"),
    "UTF-16 and none": (b"\xff\xfea\0b\0c", "begins as UTF-16|UTF-8"),
    "unknown": (b"tapes:\n- ask: x\n", "not recognised|has a list|unknown"),
    "two formats": (WHOLE + b'\n{"kind":"cassette"}\n', "not YAML"),
    "aliases": (BOMB, "aliases make it grow beyond all measure"),
    "an anchor that is not there": (b"interactions: [*x]\nversion: 1\n", "no anchor &x"),
    "deep": (b"interactions: " + b"[" * 5000 + b"]" * 5000, "nests more than 200 levels deep"),
    "deep JSON": (
        b'{"request":' + b"[" * 200_000 + b"]" * 200_000 + b',"response":1}',
        "nested too deeply",
    ),
    "empty": (b"", "the file is empty"),
    "white space": (b" \n\t\n", "the file is empty"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", BAD)
def test_a_line_says_what_is_wrong(name: str, verb: str, tmp_path: Path) -> None:
    data, says = BAD[name]
    path = tmp_path / "bad.yaml"
    path.write_bytes(data)
    with pytest.raises(InputError, match=says) as told:
        VERBS[verb](path)
    assert str(told.value).startswith(str(path))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("verb", VERBS)
def test_another_encoding_is_named_with_its_line(verb: str, tmp_path: Path) -> None:
    text = yaml.dump(yaml.safe_load(WHOLE), allow_unicode=True).replace("hello", "grüß")
    path = tmp_path / "bad.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"line \d+: not UTF-8: save the file in that encoding"):
        VERBS[verb](path)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_shells_write_is_read(verb: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_bytes(WHOLE.decode().encode(encoding))
    VERBS[verb](path)
    assert len(list(load_cassette(path).interactions)) == 2


@pytest.mark.parametrize("verb", VERBS)
def test_a_tag_runs_nothing(verb: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    tag = f'!!python/object/apply:os.system ["touch {made}"]'
    path = tmp_path / "bad.yaml"
    response = "{status: {code: 200}}"
    path.write_text(f"interactions:\n- request: {tag}\n  response: {response}\nversion: 1\n")
    if verb == "judge":
        assert [refusal.reason for refusal in read_any_recording(path).refusals] == ["no request"]
    else:
        with pytest.raises(InputError, match="there is no `request`"):
            VERBS[verb](path)
    assert not made.exists()


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_file_is_not_opened(verb: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no regular file"):
        VERBS[verb](pipe)
    folder = tmp_path / "folder.yaml"
    folder.mkdir()
    with pytest.raises(InputError, match=r"directory|no regular file") as told:
        (_load if verb == "run" else VERBS[verb])(folder)
    assert str(folder) in str(told.value)


@pytest.mark.parametrize("verb", ["load", "run"])
def test_a_file_beyond_the_bound_is_not_read(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b'interactions: "' + b"x" * 5000)
    monkeypatch.setattr(regular_file.whole, "__defaults__", (4000,))
    with pytest.raises(InputError, match="larger than 4000 bytes"):
        VERBS[verb](path)


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_of_holes_costs_no_memory(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "holes.yaml"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(InputError, match=r"binary|larger than|too large: 1024 MiB; .*YAML"):
        VERBS[verb](path)


def test_a_link_out_of_the_folder_is_told_and_not_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside, folder = tmp_path / "outside.yaml", tmp_path / "folder"
    folder.mkdir()
    outside.write_bytes(WHOLE)
    (folder / "own.yaml").write_bytes(WHOLE)
    (folder / "within.yaml").symlink_to(folder / "own.yaml")
    (folder / "out.yaml").symlink_to(outside)
    assert [path.name for path in cassettes_of(folder)] == ["own.yaml"]
    assert "out.yaml: a link out of the folder, not followed" in capsys.readouterr().err


def test_a_recording_that_is_no_cassette_is_to_be_imported(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    message = {"role": "user", "content": "go"}
    line = {"type": "user", "sessionId": "s", "uuid": "1", "parentUuid": "1", "message": message}
    path.write_text(f"{json.dumps(line)}\n{json.dumps(line)}\n")
    with pytest.raises(
        InputError, match=r"a recording \(Claude Code session log\): `harness import`"
    ):
        cassettes_of(path)
    scenario = tmp_path / "scenario.json"
    scenario.write_text('{"name": "scenario", "inbox": "hi", "script": [{"say": "hello"}]}')
    assert cassettes_of(scenario) == []
