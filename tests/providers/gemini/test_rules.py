"""The table: each rule refuses its case alone, in the API's words, and takes the look-alike."""

from __future__ import annotations

import pytest

from harness.core.values.messages import Message, ToolResult, ToolUse, user
from harness.core.values.plans import Reply
from harness.providers.gemini.contents import DUMMIES
from harness.providers.gemini.record import RECORD, TABLE, FieldError
from harness.providers.gemini.validator import refuse
from tests.providers.gemini.bodies import NEWEST, OLDER, WIRE, asked, call, done, read, said, tools
from tests.providers.gemini.cases import CASES, GO, SIGNED, Case


def rules(case: Case, body: bytes, dialect: str = "", model: str = "") -> list[str]:
    """The rules that a body breaks."""
    dialect = dialect or case.dialect
    found = read(body, model or case.model, dialect=dialect, window=case.window)
    return [violation.rule for violation in found.violations]


def test_every_rule_has_a_case_and_an_answer() -> None:
    assert CASES.keys() == TABLE.rules.keys() == WIRE.refusals().keys()


@pytest.mark.parametrize("rule", CASES)
def test_a_case_breaks_its_rule_alone_and_is_answered_in_the_words_of_the_api(rule: str) -> None:
    case = CASES[rule]
    found = read(case.bad, case.model, dialect=case.dialect, window=case.window).violations
    assert [violation.rule for violation in found] == [rule]
    error = found[0].error
    row = TABLE.rules[rule]
    assert (error.status, error.type, error.message) == (row.status, row.type, case.text)


@pytest.mark.parametrize("rule", CASES)
def test_what_only_looks_like_a_case_is_taken(rule: str) -> None:
    case = CASES[rule]
    assert rules(case, case.good, model=case.other) == []


@pytest.mark.parametrize("dialect", RECORD.dialects.names)
@pytest.mark.parametrize("rule", CASES)
def test_a_rule_holds_in_its_dialects_alone(rule: str, dialect: str) -> None:
    case = CASES[rule]
    assert (rule in rules(case, case.bad, dialect)) == (dialect in TABLE.rules[rule].dialects)


@pytest.mark.parametrize("rule", [rule.id for rule in TABLE.rules.values() if rule.models])
def test_a_rule_of_some_models_holds_for_these_alone(rule: str) -> None:
    case, other = CASES[rule], NEWEST if "<" in TABLE.rules[rule].models else OLDER
    assert rule not in rules(case, case.bad, model=other)
    assert rule not in rules(case, case.bad, model="a-tuned-model")


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3.1-pro-preview", "gemini-3-flash"])
def test_models_up_to_3_4_go_on_with_a_turn_of_the_model(model: str) -> None:
    assert read(asked(GO, said("model", "Once")), model).violations == ()


def test_the_first_call_of_each_content_of_the_current_turn_is_to_be_signed() -> None:
    turn = (said("model", SIGNED, call("b")), said("user", done(), done("b")))
    assert read(asked(GO, *turn, *turn), NEWEST).violations == ()
    late = (said("model", call("late")), said("user", done("late")))
    (found,) = read(asked(GO, *turn, *late), NEWEST).violations
    assert "`default_api:late` , position 4." in found.error.message


def test_a_call_that_a_fault_has_made_is_signed_as_any_other() -> None:
    made = read(asked(GO), NEWEST).signed(Reply((ToolUse("t1", "a", {}),)))
    (signed,) = made.blocks
    assert isinstance(signed, ToolUse)
    assert signed.extra["thoughtSignature"]
    assert read(asked(GO), NEWEST).signed(made) == made


@pytest.mark.parametrize("dummy", sorted(DUMMIES))
def test_the_documented_stand_ins_count_as_signatures(dummy: str) -> None:
    turn = (said("model", call(signature=dummy)), said("user", done()))
    assert read(asked(GO, *turn), NEWEST).violations == ()


@pytest.mark.parametrize("dummy", sorted(DUMMIES))
def test_a_stand_in_changes_nothing_that_the_model_reads(dummy: str) -> None:
    plain, marked, signed = (
        read(asked(GO, said("model", call(signature=s)), said("user", done())), OLDER).messages
        for s in ("", dummy, "c2lnbmVk")
    )
    assert plain == marked != signed


def test_a_thought_of_which_only_the_signature_is_sent_back_is_taken() -> None:
    signed = {"thought": True, "thoughtSignature": min(DUMMIES)}
    assert rules(CASES["G6"], asked(GO, said("model", signed, "a"), GO)) == []


def test_the_models_own_signature_comes_back_whole_or_not_at_all() -> None:
    reply = read(asked(GO), NEWEST).complete(_reply())
    (use,) = reply.blocks
    assert isinstance(use, ToolUse)
    signature = use.extra["thoughtSignature"]
    for sent, rule in ((signature, []), (signature[:-6] + "AAAAA=", ["G11"]), ("", ["G10"])):
        turn = (said("model", call(signature=sent)), said("user", done()))
        assert [v.rule for v in read(asked(GO, *turn), NEWEST).violations] == rule
    assert read(asked(GO), OLDER).complete(_reply()) == _reply()


def _reply() -> Reply:
    return Reply((ToolUse("c", "f", {"a": 1}),), "tool_use")


def test_a_field_that_is_wrong_is_named_in_the_details() -> None:
    (found,) = read(asked(said("user", "a", {"txt": "b", "text": "c"}))).violations
    assert isinstance(found.error, FieldError)
    assert found.error.field == "contents[0].parts[1]"


def test_both_spellings_of_a_field_are_the_same() -> None:
    snake = [{"function_declarations": [{"name": "f", "parameters": {"type": "object"}}]}]
    reading = read(
        asked(GO, tools=snake, tool_config={"function_calling_config": {"mode": "NONE"}})
    )
    assert reading.violations == ()
    assert [tool.name for tool in reading.tools] == ["f"]
    assert not reading.tools_offered
    assert read(asked(GO, tools=tools({"name": "f"}))).tools_offered


def test_messages_of_a_recording_are_judged_by_the_same_rules() -> None:
    uses = Message("assistant", (ToolUse("a", "f", {}), ToolUse("b", "f", {})))
    answers = [Message("tool", (ToolResult(id_, "ok"),)) for id_ in ("a", "b")]
    assert refuse([user("go"), uses, *answers], "") == ()
    assert [v.rule for v in refuse([user("go"), uses, answers[0]], "")] == ["G3"]
    assert [v.rule for v in refuse([], "")] == ["G4"]


def test_parts_that_are_no_list_are_refused_and_parts_that_are_missing_are_named() -> None:
    bodies = ({"role": "user", "parts": "hi"}, {"role": "user"})
    wrong, missing = (read(asked(body, GO)).violations for body in bodies)
    assert [v.rule for v in wrong] != [v.rule for v in missing]
    assert "Part" in wrong[0].error.message
