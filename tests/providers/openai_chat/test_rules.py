"""The table: every rule has a case that shows its status, type, code, parameter and text."""

from __future__ import annotations

import msgspec
import pytest

from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError
from harness.core.values.plans import ApiError
from harness.providers import by_name
from harness.providers.openai_chat.record import RECORD, TABLE, rules_of
from harness.providers.openai_chat.request import OpenAIChatReader
from harness.providers.shared.openai import ParameterError
from tests.providers.openai_chat.bodies import asks, body, done, said, tool
from tests.providers.openai_chat.cases import CASES, WINDOW

INVALID = "invalid_request_error"


def read(rule: str, dialect: str) -> tuple[tuple[Violation, ...], int]:
    """The violations that a dialect finds in a rule's case, and its tokens."""
    reading = OpenAIChatReader(dialect, WINDOW.get(rule)).read(CASES[rule][0])
    return reading.violations, reading.tokens


def test_every_rule_has_a_case_a_source_and_a_home() -> None:
    assert CASES.keys() == TABLE.rules.keys()
    for rule in TABLE.rules.values():
        assert rule.source
        assert rule.known in set("RSDIK")
        assert rule.dialects
        assert rule.dialects <= set(RECORD.dialects.names)


@pytest.mark.parametrize("dialect", RECORD.dialects.names)
@pytest.mark.parametrize("rule", CASES)
def test_a_case_triggers_its_rule_where_it_is_on_and_only_there(rule: str, dialect: str) -> None:
    found, tokens = read(rule, dialect)
    if dialect not in TABLE.rules[rule].dialects:
        assert rule not in [violation.rule for violation in found]
        return
    _, text, param, code = CASES[rule]
    text = text.replace("{tokens}", str(tokens)).replace("{total}", str(tokens + 100))
    error = next(violation.error for violation in found if violation.rule == rule)
    kind = "BadRequestError" if rule == "C32" else INVALID
    assert error == ParameterError(TABLE.rules[rule].status, kind, text, code=code, param=param)


@pytest.mark.parametrize("rule", CASES)
def test_some_dialect_refuses_the_case_for_this_rule_alone(rule: str) -> None:
    alone = [d for d in RECORD.dialects.names if [v.rule for v in read(rule, d)[0]] == [rule]]
    assert alone


MORE: list[tuple[bytes, str, str]] = [
    (body(said("user", 3)), "C11a", "messages[1].content"),
    (body(said("user", [])), "C13a", "messages[1].content"),
    (body(said("user", [{"x": 1}])), "C12a", "messages[1].content[0].type"),
    (body(said("user", [{"type": "text"}])), "C12a", "messages[1].content[0].text"),
    (body(said("assistant", "x", tool_calls="y")), "C11a", "messages[1].tool_calls"),
    (body(asks("call_1", type=3)), "C11a", "messages[1].tool_calls[0].type"),
    (body(asks("call_1", id=3)), "C11a", "messages[1].tool_calls[0].id"),
    (body(asks("call_1", name="a b"), done()), "C18", "messages[1].tool_calls[0].function.name"),
    (body(asks("call_1"), done(content=None)), "C6", "messages.[2].content"),
    (body(asks("call_1"), done(content=[])), "C13a", "messages[2].content"),
    (body(asks("call_1")), "C1", "messages"),
    (body(3), "C11", "messages[1]"),
    (body({"role": 3}), "C11", "messages[1].role"),
    (body(model=3), "C11", "model"),
    (body(tools="x"), "C11", "tools"),
    (body(tools=[]), "C13a", "tools"),
    (body(tools=[{"function": {"name": "f"}}]), "C12a", "tools[0].type"),
    (body(tools=[{"type": "function"}]), "C12a", "tools[0].function"),
    (body(tools=[tool(3)]), "C11a", "tools[0].function.name"),
    (msgspec.json.encode({"model": "m", "messages": "x"}), "C11", "messages"),
]


@pytest.mark.parametrize(("request_body", "rule", "param"), MORE)
def test_the_parameter_says_where(request_body: bytes, rule: str, param: str) -> None:
    first = OpenAIChatReader(RECORD.dialects.default, None).read(request_body).violations[0]
    assert isinstance(first.error, ParameterError)
    assert (first.rule, first.error.param) == (rule, param)


def test_a_call_without_a_type_is_a_call_all_the_same() -> None:
    call = {"id": "call_1", "function": {"name": "read", "arguments": "{}"}}
    request_body = body(said("assistant", None, tool_calls=[call]), done())
    refused = OpenAIChatReader(RECORD.dialects.default, None).read(request_body)
    assert [v.rule for v in refused.violations] == ["C12a"]
    assert OpenAIChatReader("lenient", None).read(request_body).violations == ()


def test_the_answers_of_all_rules_are_at_hand() -> None:
    refusals = by_name("openai-chat").refusals()
    assert refusals.keys() == TABLE.rules.keys()
    over = refusals["V23"]
    assert isinstance(over, ApiError)
    assert over.code == "context_length_exceeded"
    assert "{tokens}" in over.message
    assert not [e for e in refusals.values() if isinstance(e, ParameterError) and "{" in e.param]


def test_the_default_dialect_is_the_api_itself() -> None:
    assert rules_of("") == rules_of("openai-chat")
    assert rules_of("lenient") < rules_of("strict")


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'strict'"):
        rules_of("strikt")


@pytest.mark.parametrize(
    ("results", "rules"), [(2, []), (3, ["C4"]), (1, ["C1"])], ids=["each", "one more", "one less"]
)
def test_results_of_calls_without_ids_are_paired_by_order(results: int, rules: list[str]) -> None:
    # A host that streams calls without ids gives an agent nothing else to answer with.
    sent = body(asks("", ""), *(done("") for _ in range(results)), said("user"))
    found = OpenAIChatReader("strict", None).read(sent).violations
    assert [violation.rule for violation in found] == rules
