"""`harness explain`: every name that a report, a scenario or a configuration says is explained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from harness import providers
from harness.checks.judge import checks, rules
from harness.cli import FAILURE, INPUT, INTERRUPTED, TERMINATED
from harness.cli.completion import explained
from harness.cli.explain import explanation, names
from harness.cli.explanations import glossary, printed_words, rule_texts
from harness.configuration import Configuration
from harness.core.scenario.scenario import Limits
from harness.core.values.calls import OutboundKind, Seam
from harness.core.values.errors import InputError
from harness.core.values.verdict import CLASSES, EXIT_STATUS, LackKind, OutcomeWord, VerdictWord
from harness.doctor.probe import State
from harness.faults import faults
from harness.plugins import kinds
from harness.starter.starter_files import State as PieceState
from harness.targets.watchdog import Stop
from harness.verdicts.result import WORDS
from tests.cli.talks import Command

SOURCES = Path(__file__).parents[2] / "harness"
NO_CODES = {"run.js"}


def test_every_name_is_explained() -> None:
    found = names()
    assert len(found) > 1500
    assert {name for name in sorted(found)[::6] if len(explanation(name)) < 40} == set()


(_WAYS_TO_END,) = re.findall(
    r"^\| `how` \| (.*)$", (SOURCES.parent / "docs/history.md").read_text(), re.MULTILINE
)

PRINTED = [
    *get_args(VerdictWord), *WORDS.values(), *get_args(OutcomeWord), *CLASSES,
    *filter(None, get_args(LackKind)), *get_args(State),
    *map(str, {*EXIT_STATUS.values(), INPUT, FAILURE, INTERRUPTED, TERMINATED}),
    *get_args(Seam), *get_args(OutboundKind), *{*get_args(Stop)} - {"slow"},
    *{*get_args(PieceState), "not written"} - {"elsewhere", "no source"},
    *re.findall(r"`(\w+)`", _WAYS_TO_END), "waiting", "command",
    "doubt", "real wait", "this machine", "first step", "follows", "known", "would repeat", "open",
    "struck", "held", "found", "not shrunk", "not compared", "not swept", "in doubt", "moments",
]  # fmt: skip


def test_every_word_that_is_printed_is_explained() -> None:
    words = {word.replace("_", " ") for word in PRINTED}
    assert words - {*printed_words()} == set()
    for word in words:
        assert f"  ({printed_words()[word].what})" in explanation(word)
    assert {row.word for row in printed_words().values()} <= {*explained("")}


LABELS = re.compile(r'f?"(?:  )+(\w[a-z ]*): |^        yield "([a-z ]+)", \[?', re.MULTILINE)
"""What a line of a report begins with."""


@pytest.mark.parametrize("file", ["report/run_report.py", "report/reach_lines.py"])
def test_every_word_before_a_colon_is_explained(file: str) -> None:
    found = LABELS.findall((SOURCES / file).read_text())
    words = {word for pair in found for word in pair if word}
    assert len(words) >= 4
    for word in words:
        assert explanation(word), word


def test_the_words_of_the_pages_are_explained() -> None:
    assert {"brief", "seam", "owed", "inbox", "outbox", "simulate"} <= {*glossary()}
    text = explanation("overlay")
    assert text.startswith("overlay  (word of the pages)\n\nA file of faults that is laid over")
    assert "](" not in "".join(glossary().values())
    assert all(explanation(word) for word in glossary())


def test_a_part_of_each_kind_is_explained(in_process: Command) -> None:
    Path("mine.py").write_text(
        "def tap(results, command):\n    'The runs as TAP.'\n    return []\n"
    )
    for name, kind in (("har", "format"), ("sqlite", "store"), ("junit", "report")):
        assert f"{name}  ({kind})\n\n" in explanation(name)
        assert name in explained("")
    done = in_process("explain", "mine.tap", "--plugin", "mine")
    assert "The runs as TAP.\n\nExample: harness run --report mine.tap=FILE" in done.out
    assert {name for kind in kinds().values() for name in kind.own()} <= names()


def test_a_word_of_two_and_one_that_is_a_check_too(in_process: Command) -> None:
    (spaced, joined) = (
        in_process("explain", *w) for w in (["not", "applicable"], ["not_applicable"])
    )
    assert spaced.out == joined.out
    assert spaced.out.startswith("not applicable  (verdict)")
    assert "(outcome)" in explanation("limit")
    assert "A limit of the scenario was hit" in explanation("limit")


@pytest.mark.parametrize("see", sorted({row.see for row in printed_words().values()}))
def test_the_page_of_a_word_is_there(see: str) -> None:
    page, _, section = see.partition("#")
    text = (SOURCES.parent / page).read_text()
    heads = re.findall("^#+ (.*)$", text, re.M)
    assert not section or section in {
        re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in heads
    }


def test_every_code_in_the_sources_is_explained() -> None:
    text = "\n".join(path.read_text("utf-8") for path in SOURCES.rglob("*.py"))
    codes = set(re.findall(rf'"((?:{"|".join(checks())})\.[a-z_]+)"', text)) - NO_CODES
    codes |= {f"limit.{name}" for name in Limits.__struct_fields__}
    codes |= {code for code in rules() if not code.endswith("*")}
    assert len(codes) > 150
    for code in codes:
        assert explanation(code), code


@pytest.mark.parametrize("provider", providers.names())
def test_every_rule_says_what_it_asks_and_what_the_provider_answers(provider: str) -> None:
    for rule, row in providers.rules(provider).items():
        for name in (rule, f"valid_request.{rule}", f"{provider}.{rule}"):
            text = explanation(name)
            assert f"Asked: {row.asks}" in text
            assert f"Answer: {row.status}" in text
            assert row.words in text
            assert row.source in text
            assert "What to do: " in text
    assert all(row.asks.endswith(".") for row in providers.rules(provider).values())


def test_a_rule_of_several_providers_has_a_text_for_each() -> None:
    text = explanation("V23")
    assert all(f"(rule of {name}, " in text for name in providers.names())
    assert explanation("gemini.V23").count("(rule of ") == 1


def test_most_rules_have_a_request_that_breaks_them() -> None:
    rules = sum(len(providers.rules(name)) for name in providers.names())
    assert sum(len(providers.examples(name)) for name in providers.names()) > rules * 0.9


def test_a_setting_says_its_values_and_its_default() -> None:
    text = explanation("http.status.status")
    assert "(integer from 400 to 599; default 529)" in text
    assert "faults: [{kind: http.status, status: 529}]" in text
    assert "  status: The HTTP status." in explanation("http.status")
    assert explanation("no_progress_stop.repeats").startswith("no_progress_stop.repeats  (setting")


def test_a_key_is_explained_by_its_path() -> None:
    assert "(key of a scenario file)" in explanation("limits.model_calls")
    both = explanation("fail-on")
    assert "(key of a profile file)" in both
    assert "(key of a configuration file)" in both
    for key in Configuration.__struct_encode_fields__:
        assert "(key of a configuration file)" in explanation(key)


def test_every_fault_has_an_example() -> None:
    for kind in faults():
        assert f"Example: faults: [{{kind: {kind}" in explanation(kind)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            "valid_request.V1x",
            "no such code, part, rule, setting or key; did you mean 'val",
        ),
        ("run.silent", "the check run has no such rule; did you mean 'silent_fault'?"),
        ("limits.model_cals", "'limits.model_calls'"),
        ("http.status.stats", "'http.status.status'"),
        (
            "no_progress_stop.same_cal",
            "has no such rule; did you mean 'no_progress_stop.same_call'",
        ),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(wrong: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        explanation(wrong)
    assert told in str(caught.value)


@pytest.mark.parametrize("provider", providers.names())
def test_a_rule_says_how_it_is_known(provider: str) -> None:
    for name, rule in providers.rules(provider).items():
        (text,) = rule_texts(f"{provider}.{name}")
        assert ("Only we know this rule" in text) is (rule.known == "K"), name
        assert ("Known from " in text) is (rule.known != "K"), name
