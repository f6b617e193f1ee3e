"""A request that cannot be read is judged as unreadable, and as nothing else.

Its messages, tools and system text are not known, so no check may report them as lost. The true
defects beside it are found all the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.append_only import append_only_prefix
from harness.checks.conversation import history_faithful
from harness.checks.false_stops import no_false_stop
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.request_form import valid_request
from harness.checks.retries import no_blind_resend
from harness.checks.stored_session import reload_equivalence
from harness.core.history.history import History
from harness.core.values.messages import assistant, results, user
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, codes, use

SEAMS = tuple(seam for seam in ALL_SEAMS if seam != "store")
CHECKS = (
    append_only_prefix,
    history_faithful,
    inbound_exactly_once,
    no_blind_resend,
    no_false_stop,
    valid_request,
)


def judged(history: History) -> set[str]:
    """What the checks say of a request's words, except what a case excuses."""
    found = [finding for check in CHECKS for finding in check(history)]
    plain = [f for f in found if hasattr(f, "code")]
    cases = [f for case in found if hasattr(case, "findings") for f in case.findings]
    return {finding.code for finding in (*plain, *cases)}


def half_an_emoji(**request: Any) -> History:
    """A turn with a tool, then one whose requests hold half a character, told truthfully."""
    story = Story(seams=SEAMS).turn("look").reply(use("list")).tool("half").reply("done").final()
    empty = {"messages": [], "tools": False, "request": {"after": "", "keep": 0, **request}}
    story.turn("go on").fail(400, "V28", refused=("V28",), **empty)
    return story.final("I could not send that.", status="failed").end()


def test_half_an_emoji_is_unreadable_and_nothing_else() -> None:
    assert judged(half_an_emoji(unread=True)) == {"valid_request.V28"}


def test_a_request_that_is_read_and_empty_is_judged() -> None:
    found = judged(half_an_emoji(messages=()))
    assert {"append_only_prefix.messages", "inbound_exactly_once.lost"} <= found
    assert "history_faithful.forgotten_reply" in found


def test_two_unreadable_requests_of_one_length_are_the_same_and_others_are_not() -> None:
    story = Story(seams=SEAMS).turn("go")
    for _ in range(2):
        unread = {"request": {"unread": True, "messages": ()}}
        story.fail(400, "V28", refused=("V28",), messages=[user("x")], **unread)
    assert "no_blind_resend.same_request" in judged(story.final("no", status="failed").end())


UNREAD = {"unread": True}


def garbled(story: Story) -> Story:
    """The agent sends what cannot be read, and learns it."""
    return story.fail(400, "V28", refused=("V28",), tools=False, request=UNREAD)


def test_the_request_that_is_read_in_its_place_is_judged() -> None:
    story = Story(seams=SEAMS).turn("look").reply(use("list")).tool("half").reply("done").final()
    garbled(story.turn("go on")).reply("mended").final()
    garbled(story.turn("and on").reply(use("list")).tool("more")).reply("done").final()
    assert judged(story.end()) == {"valid_request.V28"}


def test_what_the_request_in_its_place_lacks_is_gone() -> None:
    story = Story(seams=SEAMS).turn("look").reply("done").final()
    forgot = garbled(story.turn("go on")).reply("x", messages=[user("another")]).final().end()
    found = judged(forgot)
    assert {"inbound_exactly_once.lost", "history_faithful.forgotten_reply"} <= found


def test_a_compaction_goes_on_with_the_next_request_that_is_read() -> None:
    story = Story(seams=SEAMS).turn("look").reply("sum", purpose="compact")
    history = garbled(story).reply("done").final().end()
    (compaction,) = history.trace.compactions
    assert compaction.after is history.trace.exchanges[-1]


def test_a_start_is_judged_by_the_first_request_that_is_read() -> None:
    past = [user("I am Ada."), assistant("Hello, Ada.")]
    story = Story(stores=False).row(*past).turn("Who am I?")
    garbled(story).reply("Ada.", messages=[*past, user("Who am I?")]).final()
    assert "reload_equivalence.forgotten" not in codes(reload_equivalence(story.end()))


THREAD = "thread_not_found"


def threads(*rules: str) -> History:
    """A conversation whose thread is lost: the client is told, and sends all of it."""
    story = Story(seams=SEAMS).turn("look")
    story.reply(use("list")).tool("a file")
    new = [results(*story._results)]
    for rule in rules:
        lost = {"unread": True, "settings": "continue", "tools": "", "tools_offered": False}
        story.fail(404, rule, refused=(rule,), messages=new, request=lost)
    return story.reply("done").final().end()


@pytest.mark.parametrize("rule", [THREAD, "thread_already_continued", "thread_unsupported_request"])
def test_the_fallback_from_threads_is_the_protocol(rule: str) -> None:
    assert judged(threads(rule)) == set()


def test_a_thread_that_is_asked_for_again_is_reported() -> None:
    assert judged(threads(THREAD, THREAD)) == {
        f"valid_request.{THREAD}",
        "no_blind_resend.same_request",
    }


def test_a_thread_with_other_tools_is_the_clients_mistake() -> None:
    rule = "thread_fingerprint_mismatch"
    assert judged(threads(rule)) == {f"valid_request.{rule}"}
