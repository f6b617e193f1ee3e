"""The checks by name: our own, and those that a plug-in brings."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from harness.checks import Finding, History, excused_by, excuses, needs
from harness.checks.evidence.declarations import declared
from harness.checks.evidence.excuses import Case
from harness.checks.judge import (
    CHECKS,
    check_of,
    checks,
    judge,
    own_checks,
    parts_of,
    settings_of,
)
from harness.checks.judge.check_texts import explain, names
from harness.core.values.errors import InputError
from harness.parts.loading import Plugin, set_loaded
from tests.checks.histories import Story, codes


def polite(history: History, *, word: str = "please") -> Iterator[Finding]:
    """Every reply holds a word."""
    for sending in history.trace.sendings:
        if word not in sending.request.text:
            yield Finding("polite.word", f"no {word!r}", (sending.n,))


@needs("model", told_by="run")
@excused_by(late=(excuses.CANCEL,))
def prompt(history: History, *, most: int = 0) -> Iterator[Finding | Case]:
    """Says a word of its own plug-in, prefix and all."""
    for turn in history.trace.turns.values():
        yield Case("late", [Finding("mine.prompt.late", "late", (turn.opened_n,))], turn)


def _helper(history: History) -> None:
    """No part: its name begins with an underscore."""


def slow(moment: object, plan: object) -> None:
    """A fault, and no check."""


@pytest.fixture
def plugin() -> Iterator[Plugin]:
    module = ModuleType("mine_parts")
    for part in (polite, prompt, _helper, slow):
        part.__module__ = module.__name__
        setattr(module, part.__name__, part)
    module.judge = judge  # type: ignore[attr-defined]
    plugin = Plugin("mine", module)
    set_loaded((plugin,))
    yield plugin
    set_loaded(())


def _run(**settings: Any) -> History:
    return Story(settings=settings).turn("go").reply("x").final().end()


def test_a_plug_ins_checks_are_its_own_functions_whose_first_parameter_is_the_history(
    plugin: Plugin,
) -> None:
    assert parts_of(plugin) == {"polite": polite, "prompt": prompt}
    assert list(checks())[-2:] == ["mine.polite", "mine.prompt"]
    assert not {"mine.polite", "mine.prompt"} & own_checks().keys()
    assert settings_of(prompt) == {"most": 0}


def test_codes_of_a_plug_ins_check_begin_with_its_prefix(plugin: Plugin) -> None:
    verdict = judge(_run())
    found = {finding.code: finding.check for finding in verdict.findings}
    assert found == {"mine.polite.word": "mine.polite", "mine.prompt.late": "mine.prompt"}


def test_a_scenario_sets_and_names_a_plug_ins_check(plugin: Plugin) -> None:
    settings = {"checks": {"mine.polite": {"word": "x"}}, "expect": {"must": ["mine.polite"]}}
    verdict = judge(_run(**settings), only="mine.polite")
    assert (verdict.verdict, verdict.passed) == ("pass", ("mine.polite",))


def test_a_known_defect_of_a_plug_in_is_set_apart_and_missed(plugin: Plugin) -> None:
    known = {"known": ["mine.polite.word", "mine.prompt.late"]}
    assert judge(_run(expect=known)).verdict == "pass"
    quiet = {"expect": known, "checks": {"mine.polite": {"word": "x"}}}
    assert codes(judge(_run(**quiet)).findings) == ["expect.known_missing"]


def test_a_plug_ins_check_is_asked_of_a_recording_unless_it_says_otherwise(plugin: Plugin) -> None:
    verdict = judge(Story(world="recording").turn("go").reply("x").final().history)
    assert "mine.polite.word" in codes(verdict.findings)
    reasons = {n.check: n.reason for n in verdict.not_applicable}
    assert reasons["mine.prompt"] == "a recording does not tell"


def test_an_excuse_of_a_plug_ins_check_is_applied(plugin: Plugin) -> None:
    story = Story().turn("go").take("", kind="cancel").final(status="cancelled")
    assert not list(prompt(story.end()))


def test_a_plug_ins_check_is_listed_and_explained(plugin: Plugin) -> None:
    assert names()["mine.polite"] == "Every reply holds a word."
    for code in ("mine.prompt", "mine.prompt.late"):
        assert "Excused (late): a cancel of the turn." in explain(code)


def test_without_its_plug_in_a_check_is_unknown() -> None:
    with pytest.raises(InputError, match="no plug-in with the prefix 'mine' is loaded"):
        judge(_run(), only="mine.polite")
    (doubt,) = judge(_run(checks={"mine.polite": {}})).doubts
    assert doubt.startswith("checks: there is no check 'mine.polite'; ")
    with pytest.raises(InputError, match="no plug-in with the prefix 'mine' is loaded"):
        explain("mine.polite.word")


@pytest.mark.parametrize(
    ("code", "check"),
    [
        ("valid_request", "valid_request"),
        ("valid_request.V4", "valid_request"),
        ("mine.polite.word", "mine.polite"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
def test_the_check_of_a_code_is_all_before_its_last_dot(code: str, check: str) -> None:
    assert check_of(code) == check


def test_our_own_checks_declare_what_they_need_and_their_place() -> None:
    own = own_checks()
    assert all(hasattr(check, "needs") for check in own.values())
    places = [getattr(check, "place", 0) for check in own.values()]
    assert places == sorted(set(places))
    assert [*own][:2] == ["target", "run"]
    assert [*own][-1] == "expect"
    files = {file.module.__name__ for file in CHECKS.files()}
    assert {check.__module__ for check in own.values()} == files


def test_declarations_are_told_in_words() -> None:
    told = {name: tuple(declared(check)) for name, check in own_checks().items()}
    assert told["outbound_once"] == (
        "Needs these seams: inbox, outbox.",
        "Asked of runs, not of recordings.",
        "Excused (missing): a message without text; a message that was answered before; "
        "a message that another process has accepted first; "
        "a cancel of the turn; a kill of the agent in the turn; "
        "a limit of the harness in the turn.",
        "Excused (taken): a message without text; a message that was answered before; "
        "a cancel of the turn; a kill of the agent in the turn; "
        "a limit of the harness in the turn.",
    )
    assert "Counts start again after a kill." in told["bounded_turn"]
    assert "Set aside under an overlay: `exhausted`." in told["script"]
