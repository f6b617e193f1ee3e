"""The rows of the known targets."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness import providers
from harness.core.values.errors import InputError
from harness.core.values.machine_names import DUMMY_KEY
from harness.files import load_scenarios
from harness.runner import run
from harness.targets import resolve
from harness.targets.known import command_of, known
from tests.field.environments import CHEAP, is_installed, options_of, require

PAGE = (Path(__file__).parents[3] / "docs" / "known-targets.md").read_text("utf-8")
TALK = Path(__file__).with_name("known-talk.yaml")
PAST = Path(__file__).with_name("known-past.yaml")
WORDS = {
    "{home}", "{work}", "{model}", "{mcp}", "{id}", "{name}", "{program}", "{text}", "{python}",
    "{here}",
}  # fmt: skip


@pytest.mark.parametrize("name", known())
def test_a_row_uses_known_words_and_stands_on_the_page(name: str) -> None:
    row = known()[name]
    commands = [*row.first, *row.next, *row.stays]
    texts = [*commands, *row.environment.values(), *row.files, *row.files.values()]
    chosen = [each.words for values in row.by_option.values() for each in values.values()]
    own = {
        f"{{{name}}}" for words in (row.options, *row.by_wire.values(), *chosen) for name in words
    }
    assert all(str(row.options[name]) in values for name, values in row.by_option.items())
    assert {word for text in texts for word in re.findall(r"\{[a-z_]+\}", text)} <= WORDS | own
    assert bool(row.stays) != bool(row.first and row.next)
    assert "{program}" in row.stays or row.first[0] == row.next[0] == "{program}"
    assert not row.by_wire or {*row.by_wire} == {*row.profile.wires}
    assert row.profile.wires
    assert {*row.profile.wires} <= {*providers.names()}
    assert DUMMY_KEY in " ".join(texts), "no key of the user's is ever needed"
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    assert line.endswith(f"| `{row.install}` |")
    assert f"| {row.version} |" in line


@pytest.mark.parametrize("name", known())
def test_a_program_that_is_not_installed_is_one_line_with_the_command(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError) as caught:
        resolve(name)
    assert str(caught.value) == (
        f"target '{name}': no program {known()[name].program} here: {known()[name].install}"
    )


def test_the_package_that_brings_the_tools_is_asked_for_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.targets.known.find_spec", lambda name: None)
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(
        InputError, match=r"needs the package mcp: pip install 'loop-harness\[mcp\]'"
    ):
        resolve(f"codex?program={program}")


def test_a_program_beside_the_path_is_named_by_an_option(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = resolve(f"claude-code?program={program}&model=claude-opus-5")
    assert found.kind == "process"
    assert str(program) in found.command[-1]
    assert found.profile.wires == ("anthropic",)
    assert command_of("claude-code", str(program)) == found.command


def test_an_option_that_chooses_an_inbox_says_what_is_owed_there(tmp_path: Path) -> None:
    program = tmp_path / "hermes"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    inbound = {
        busy: resolve(f"hermes?program={program}&busy={busy}").profile.inbound
        for busy in ("none", "queue", "steer", "interrupt")
    }
    assert inbound == {
        "none": None, "queue": "collect", "steer": "steer", "interrupt": "interrupt"
    }  # fmt: skip
    assert resolve(f"hermes?program={program}").profile == known()["hermes"].profile
    steered = resolve(f"hermes?program={program}&busy=steer").profile
    assert (steered.wires, steered.declares("cancel"), steered.declares("outbox")) == (
        ("openai-chat", "anthropic"), True, False,
    )  # fmt: skip
    with pytest.raises(InputError, match="busy=wait: no such value; it has none, queue, steer"):
        resolve(f"hermes?program={program}&busy=wait")


def test_a_program_may_be_named_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert f'"{program}"' in command_of("claude-code", "bin/claude")[-1]


def test_a_mistyped_name_is_told_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'claude-code'"):
        resolve("claude-cod")


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in CHEAP else pytest.mark.nightly) for n in known()],
)
def test_the_real_program_plays_messages_a_tool_and_a_history(name: str) -> None:
    require(name, is_installed(name) or shutil.which(known()[name].program) is not None)
    target = resolve(options_of(name)[1] if is_installed(name) else name)
    for scenario in load_scenarios(TALK):
        if scenario.wire in target.profile.wires:
            made = run(scenario, target)
            codes = {finding.code for finding in made.verdict.failing}
            codes -= BY_CHANCE.get(name, set())
            assert codes == REAL_FINDINGS.get(name, set()), made.verdict.findings
            assert made.history.trace.executions


@pytest.mark.real
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in CHEAP else pytest.mark.nightly)
                                  for n in known() if known()[n].past.form])  # fmt: skip
def test_the_real_program_goes_on_with_a_stored_session(name: str) -> None:
    require(name, is_installed(name) or shutil.which(known()[name].program) is not None)
    target = resolve(options_of(name)[1] if is_installed(name) else name)
    (scenario,) = (each for each in load_scenarios(PAST) if each.wire in target.profile.wires)
    made = run(scenario, target)
    assert made.verdict.verdict == "pass", made.verdict.findings
    sent = made.history.trace.exchanges[0].node.messages
    words = "\n".join(message.text for message in sent)
    assert [text for text in PAST_TEXTS if text not in words] == []
    calls = [(use.name, use.input) for message in sent for use in message.tool_uses]
    assert calls == [(f"{target.profile.tool_prefix}note", {"text": "called Ada"})]
    results = [result.text for message in sent for result in message.tool_results]
    assert len(results) == 1
    assert "kept" in results[0]


PAST_TEXTS = ("I am called Ada.", "Noted.", "Are you there?", "Hello?")
BY_CHANCE = {"gemini-cli": {"append_only_prefix.system"}}
"""What a release does wrong now and then: its system text holds notes that it writes meanwhile."""

REAL_FINDINGS = {
    "gemini-cli": {"valid_request.G3", "run.unplayed_turn", "expect.outcome"},
    "qwen-code": {"append_only_prefix.system", "append_only_prefix.messages"},
}  # fmt: skip
"""What the releases of the page do wrong: docs/known-targets.md#what-was-seen."""
