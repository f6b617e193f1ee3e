"""What checks and dialects find in transcripts as histories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.judge import judge, rule_of
from harness.checks.loops import no_progress_stop
from harness.checks.request_form import role_alternation
from harness.checks.tool_ids import tool_pairing
from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.values.errors import InputError
from harness.core.values.messages import ToolResult, ToolUse, assistant, results, user
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from tests.recordings.transcribed import history_of


def test_a_new_beginning_is_judged_without_what_was_before_it() -> None:
    open_call = (user("go"), assistant(ToolUse("1", "f", {})), user("sum"), assistant("ok"))
    whole = to_history(Transcript(name="t", messages=open_call, wire="anthropic"), "anthropic-2026")
    begun = Transcript(name="t", messages=open_call, wire="anthropic", restarts={2: 2})
    assert _refused(whole) == [(), ("V4",)]
    assert _refused(to_history(begun, "anthropic-2026")) == [(), ()]


def _refused(history: History) -> list[tuple[str, ...]]:
    calls = (e for e in history.events if isinstance(e, Called) and e.seam == "model")
    return [call.refused for call in calls]


def test_a_result_whose_call_the_provider_keeps_is_no_orphan() -> None:
    said = (results(ToolResult("1", "ok")), assistant("done"))
    kept = history_of(*said, exchange=True, answered=True, stateful=True)
    assert list(tool_pairing(kept)) == []
    assert [f.code for f in tool_pairing(history_of(*said))] == ["tool_pairing.orphan"]


def test_a_dialect_judges_each_request_of_its_own_wire() -> None:
    broken = (user("go"), assistant(ToolUse("1", "f", {})), user("and?"), assistant("b"))
    transcript = Transcript(name="t", messages=broken, wire="anthropic")

    def refused(found: Transcript, dialect: str | None) -> list[tuple[str, ...]]:
        events = to_history(found, dialect).events
        return [e.refused for e in events if isinstance(e, Called) and e.seam == "model"]

    assert refused(transcript, "anthropic-2026") == [(), ("V4",)]
    assert refused(transcript, None) == [(), ()]
    other = Transcript(name="t", messages=broken, wire="openai-chat")
    assert refused(other, "anthropic-2026") == [(), ()]
    with pytest.raises(InputError):
        to_history(transcript, "no-such-dialect")


_STEPS = st.lists(
    st.tuples(st.sampled_from("fg"), st.sampled_from([{}, {"x": 1}]), st.sampled_from(["a", "b"]),
              st.booleans()),
    max_size=12,
)  # fmt: skip


@given(_STEPS, st.booleans())
def test_what_the_checks_find_are_the_runs_that_are_counted(
    steps: list[tuple[str, dict[str, int], str, bool]], in_one_message: bool
) -> None:
    uses = [ToolUse(str(n), name, value) for n, (name, value, _, _) in enumerate(steps)]
    said = [ToolResult(str(n), text, error) for n, (_, _, text, error) in enumerate(steps)]
    if in_one_message:
        messages = [user("go"), assistant(*uses), results(*said)]
    else:
        pairs = zip(uses, said, strict=True)
        messages = [user("go"), *(m for u, r in pairs for m in (assistant(u), results(r)))]
    transcript = Transcript(name="t", messages=tuple(messages), wire="anthropic")
    found = [finding.code for finding in no_progress_stop(to_history(transcript))]
    if in_one_message:
        assert found == [], "what one message asks for twice repeats nothing"
        return
    counted = counts(transcript)
    runs = [steps[start : start + length] for _, length, start in counted["same_call_runs"]]
    stuck = [run for run in runs if len({s[2] for s in run if not s[3]}) < len(run)]
    assert found.count("no_progress_stop.same_call") == len(stuck)
    failures = len(counted["same_fail_runs_explicit"])
    assert found.count("no_progress_stop.same_failure") == failures


def _asked(texts: int, answered: bool = False) -> Transcript:
    messages = [user("Hello."), assistant("Hello!")]
    for number in range(texts):
        messages.append(user(f"Question {number}?"))
        messages += [assistant("Yes.")] * answered
    return Transcript(name="spiral", messages=(*messages, assistant("To all of you: yes.")))


def test_five_questions_in_a_row_are_the_fingerprint_of_lost_replies() -> None:
    def codes(transcript: Transcript) -> list[str]:
        return [finding.code for finding in role_alternation(to_history(transcript))]

    assert codes(_asked(5)).count("role_alternation.spiral") == 1
    assert codes(_asked(9)).count("role_alternation.spiral") == 1
    assert "role_alternation.spiral" not in codes(_asked(4))

    assert not codes(_asked(9, answered=True))


def test_a_spiral_is_advice_in_a_recording_and_a_weakness_in_a_run() -> None:
    """People write several messages in a row, and programs log rows in the user's name."""
    verdict = judge(to_history(_asked(5)))
    assert {f.class_ for f in verdict.findings if f.code == "role_alternation.spiral"} == {"advice"}
    assert verdict.verdict == "pass"
    assert rule_of("role_alternation.spiral").class_ == "weakness"
