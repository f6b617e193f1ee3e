"""The table of rules: each has a case that triggers it alone, and is silent where it is off."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError
from harness.core.values.messages import Opaque, assistant, user
from harness.providers.anthropic import totals
from harness.providers.anthropic.provider import AnthropicProvider
from harness.providers.anthropic.record import RECORD, TABLE, rules_of
from harness.providers.anthropic.request import AnthropicReader
from tests.providers.anthropic.bodies import Said, body, case
from tests.providers.anthropic.cases import BROKEN, LEGAL, WINDOW


def read(said: Said, rule: str, dialect: str) -> tuple[tuple[Violation, ...], int]:
    """The violations that a dialect finds in a rule's request, and its tokens."""
    reader = AnthropicReader(dialect, WINDOW.get(rule))
    reading = reader.read(said if isinstance(said, bytes) else said(reader))
    return reading.violations, reading.tokens


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    """A hundred thousand messages are too many to be made for every dialect."""
    if rule == "V3":
        monkeypatch.setattr(totals, "MESSAGES_MAX", 2)


def test_every_rule_has_both_cases_a_source_and_a_home() -> None:
    assert BROKEN.keys() == TABLE.rules.keys() == LEGAL.keys()
    for rule in TABLE.rules.values():
        assert rule.source
        assert rule.known in set("RSDIK")
        assert rule.dialects
        assert rule.dialects <= set(RECORD.dialects.names)


def test_the_provider_s_own_numbers_are_all_there() -> None:
    assert {f"V{n}" for n in range(1, 36)} <= TABLE.rules.keys()
    assert totals.MESSAGES_MAX == 100_000


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("dialect", RECORD.dialects.names)
@pytest.mark.parametrize("rule", BROKEN)
def test_a_case_triggers_its_rule_where_it_is_on_and_only_there(rule: str, dialect: str) -> None:
    said, text = BROKEN[rule]
    found, tokens = read(said, rule, dialect)
    ids = [violation.rule for violation in found]
    row = TABLE.rules[rule]
    if dialect not in row.dialects:
        assert rule not in ids
        return
    error = next(violation.error for violation in found if violation.rule == rule)
    assert (error.status, error.type, error.code) == (row.status, row.type, row.code)
    assert error.message == text.replace("{tokens}", str(tokens))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("rule", BROKEN)
def test_some_dialect_refuses_the_case_for_this_rule_alone(rule: str) -> None:
    found = [[v.rule for v in read(BROKEN[rule][0], rule, d)[0]] for d in RECORD.dialects.names]
    assert [rule] in found


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("dialect", RECORD.dialects.names)
@pytest.mark.parametrize("rule", LEGAL)
def test_the_nearest_legal_request_passes(rule: str, dialect: str) -> None:
    window = {"V23": 1000, "V24": 1000}
    reader = AnthropicReader(dialect, window.get(rule))
    said = LEGAL[rule]
    reading = reader.read(said if isinstance(said, bytes) else said(reader))
    assert rule not in [violation.rule for violation in reading.violations]


@pytest.mark.parametrize("rule", sorted(set(LEGAL) - {"V3", "V18", "V21b", "V25"}))
def test_the_default_dialect_takes_the_legal_request_whole(rule: str) -> None:
    reader = AnthropicReader(RECORD.dialects.default, None)
    said = LEGAL[rule]
    assert reader.read(said if isinstance(said, bytes) else said(reader)).violations == ()


def test_lenient_refuses_only_what_cannot_be_read_or_cannot_fit() -> None:
    threads = {rule for rule in TABLE.rules if rule.startswith("thread_")}
    left = {"V23", "V28", "V32", "V35"} | threads - {"thread_unsupported_request"}
    assert rules_of("lenient") == left


MODELS = [
    ("claude-haiku-4-5", []),
    ("claude-3-opus-20240229", []),
    ("claude-haiku-4-5", ["V13"]),
    ("claude-sonnet-4-6", ["V14"]),
    ("claude-haiku-5-5", ["V14"]),
    ("mine", ["V14"]),
]
"""Models that take a prefill, and those that do not; one of the first, with a blank at its end."""


@pytest.mark.parametrize(("name", "rules"), MODELS)
def test_prefill_goes_by_the_model(name: str, rules: list[str]) -> None:
    end = " " if rules == ["V13"] else ""
    request = body([user("a"), assistant(f"b{end}")], model=name)
    found = AnthropicReader(RECORD.dialects.default, None).read(request).violations
    assert [v.rule for v in found] == rules


def test_a_model_that_the_address_names_is_judged_by_that_name() -> None:
    reader = AnthropicReader("bedrock", None)
    said = msgspec.json.encode({"max_tokens": 10, "messages": [{"role": "user", "content": "a"}]})
    assert [v.rule for v in reader.read(said).violations] == ["V32"]
    path = "/model/us.anthropic.claude-opus-4-8/invoke-with-response-stream"
    reading = reader.read(RECORD.complete_body(path, "", said))
    assert (reading.violations, reading.model) == ((), "us.anthropic.claude-opus-4-8")
    assert reading.stream


def test_a_first_message_of_the_assistant_is_taken_today() -> None:
    request = case(assistant("a"), user("b"))
    assert AnthropicReader(RECORD.dialects.default, None).read(request).violations == ()


def test_prefill_is_refused_since_2026_only() -> None:
    assert "V14" in rules_of(RECORD.dialects.default)
    assert "V14" not in rules_of("anthropic-2023")
    assert rules_of("") == rules_of(RECORD.dialects.default)


def test_a_pause_of_the_server_is_no_prefill() -> None:
    pause = Opaque("server_tool_use", {"type": "server_tool_use", "id": "s", "input": {}})
    reading = AnthropicReader(RECORD.dialects.default, None).read(
        case(user("a"), assistant("b", pause))
    )
    assert reading.violations == ()


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'anthropic-2026'"):
        rules_of("antropic-2026")


@pytest.mark.parametrize("first", [{"type": "bash_20250124", "name": "bash"}, {"input_schema": {}}])
def test_a_tool_without_a_name_of_its_own_does_not_hide_the_names_behind_it(
    first: dict[str, Any],
) -> None:
    tools = [first, {"name": "a.b", "input_schema": {}}]
    body = {"model": "claude-opus-4-7", "max_tokens": 9, "tools": tools}
    said = json.dumps({**body, "messages": [{"role": "user", "content": "a"}]}).encode()
    rules = [v.rule for v in AnthropicProvider().reader("").read(said).violations]
    assert "V21" in rules
