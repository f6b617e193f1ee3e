"""A scenario is played once, on a wire that the agent speaks; on each if that is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CHATS, Command
from tests.cli.talks import REFERENCE

SCENARIO = """\
name: greeting
wire: [anthropic, openai-chat, openai-responses, gemini]
inbox: Hello
script: [{say: Good morning.}]
"""
OTHERS = """\


def lies(brief):
    for message in brief.inbox():
        asked = [{"role": "user", "content": message.text}]
        brief.openai().chat.completions.create(model="m", messages=asked)
        brief.send("Leave me alone.", in_reply_to=message.id)


def streams(brief):
    for message in brief.inbox():
        asked = [{"role": "user", "content": message.text}]
        pieces = brief.openai().chat.completions.create(model="m", messages=asked, stream=True)
        texts = [piece.choices[0].delta.content or "" for piece in pieces if piece.choices]
        brief.send("".join(texts), in_reply_to=message.id)


def silent(brief):
    for message in brief.inbox():
        brief.send("Good morning.", in_reply_to=message.id)
"""


@pytest.fixture
def chats(folder: Path) -> Path:
    (folder / "greeting.yaml").write_text(SCENARIO)
    (folder / "chats_of_this_test.py").write_text(CHATS + OTHERS)
    return folder


def played(run: Command, target: str, *words: str) -> dict[str, str]:
    done = run("run", "greeting.yaml", "--target", target, "--json", *words)
    rows = map(json.loads, done.out.splitlines())
    return {row["name"]: row["verdict"] for row in rows if "verdict" in row}


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ((), {"greeting@openai-chat": "pass"}),
        (("--only", "greeting"), {"greeting@openai-chat": "pass"}),
        (("--wire", "openai-chat"), {"greeting@openai-chat": "pass"}),
        (
            ("--wire", "all"),
            {
                "greeting": "not_applicable",
                "greeting@openai-chat": "pass",
                "greeting@openai-responses": "not_applicable",
                "greeting@gemini": "not_applicable",
            },
        ),
    ],
)
def test_an_agent_of_one_wire(
    in_process: Command, chats: Path, words: tuple[str, ...], runs: dict[str, str]
) -> None:
    assert played(in_process, "chats_of_this_test:agent", *words) == runs


@pytest.mark.parametrize(
    ("target", "declared", "streamed"),
    [
        ("chats_of_this_test:agent", "", [False]),
        ("chats_of_this_test:streams", "", [True]),
        ("reference", "", [False, True]),
        ("reference?stream=true", "", [True]),
        ("chats_of_this_test:agent", "stream: never\n", [False]),
        ("chats_of_this_test:agent", "capabilities: {streaming: true}\n", [False, True]),
        ("chats_of_this_test:silent", "", [False, True]),
    ],
)
def test_of_a_run_with_and_without_a_stream_an_agent_plays_what_it_can(
    in_process: Command, chats: Path, target: str, declared: str, streamed: list[bool]
) -> None:
    (chats / "greeting.yaml").write_text(f"{SCENARIO}stream: both\n")
    (chats / "declared.yaml").write_text(f"wires: [openai-chat]\n{declared}")
    found = played(in_process, target, "--profile", "declared.yaml")
    assert [name.endswith("+stream") for name in found] == streamed


def test_an_agent_of_all_wires_plays_the_first(in_process: Command, chats: Path) -> None:
    assert played(in_process, "reference") == {"greeting": "pass"}
    assert played(in_process, "reference", "--only", "*@gemini") == {"greeting@gemini": "pass"}


def test_the_first_wire_of_the_profile_is_taken(in_process: Command, chats: Path) -> None:
    (chats / "harness.toml").write_text('[profiles.own]\nwires = ["gemini", "openai-chat"]\n')
    assert played(in_process, "reference", "--profile", "own") == {"greeting@gemini": "pass"}


def test_an_agent_that_asks_no_model_is_red_on_each(in_process: Command, chats: Path) -> None:
    found = played(in_process, "chats_of_this_test:silent")
    assert len(found) == 4
    assert {*found.values()} == {"fail"}


def test_shrink_plays_the_wire_of_the_agent_too(in_process: Command, chats: Path) -> None:
    target = "chats_of_this_test:lies"
    done = in_process("shrink", "greeting.yaml", "--target", target, "--json", "--out", "small")
    (small,) = chats.glob("small/**/*.yaml")
    assert "wire: openai-chat" in small.read_text()
    assert "reply_carried." in done.out


@pytest.mark.parametrize("words", [(), ("--wire", "anthropic"), ("--wire", "all")])
def test_a_file_beside_a_scenario_that_is_missing_is_told_before_anything_is_played(
    in_process: Command, chats: Path, words: tuple[str, ...]
) -> None:
    (chats / "seeded.yaml").write_text(
        "name: seeded\nsession: {file: gone.jsonl}\ninbox: [{text: Hi}]\nscript: [{say: Hi}]\n"
    )
    done = in_process("run", "greeting.yaml", "seeded.yaml", "--target", REFERENCE, *words)
    assert (done.status, done.out) == (2, "")
    assert "error: seeded.yaml: gone.jsonl: cannot be read: No such file" in done.err
