"""Errors about threads: the server does not know, or does not take, what it is to continue.

The official SDK acts on the code. On `thread_not_found`, `thread_already_continued` and
`thread_continue_in_flight` it sends the whole history as a new thread; on
`thread_unsupported_request` it goes on without threads; on `thread_fingerprint_mismatch` it raises.
A request without a thread is left alone.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.faults.http.said import error, refusal

STAGE = "value"

SEAMS = ("model",)

CODES = {
    "thread_not_found": ("H17",),
    "thread_already_continued": ("H17",),
    "thread_continue_in_flight": ("H7", "H17"),
    "thread_fingerprint_mismatch": ("H17",),
    "thread_unsupported_request": ("H17",),
}

WIRES = dict.fromkeys(CODES, ("anthropic",))


def thread_not_found(moment: Moment, plan: Plan) -> Plan:
    """404: the server has lost the thread."""
    return _refused(moment, "thread_not_found") or plan


def thread_already_continued(moment: Moment, plan: Plan) -> Plan:
    """400: the answer that the request continues has been continued already."""
    return _refused(moment, "thread_already_continued") or plan


def thread_continue_in_flight(moment: Moment, plan: Plan) -> Plan:
    """400: another request that continues the same answer is not over yet."""
    if not _previous(moment):
        return plan
    text = "thread: another request is still continuing from the same `previous_message_id`"
    return error(moment, 400, text, code="thread_continue_in_flight")


def thread_fingerprint_mismatch(moment: Moment, plan: Plan) -> Plan:
    """400: a field that must stay the same over a thread has changed."""
    return _refused(moment, "thread_fingerprint_mismatch", names="`tools`") or plan


def thread_unsupported_request(moment: Moment, plan: Plan) -> Plan:
    """400: threads cannot be used with this request."""
    asks = isinstance(moment.call.settings.get("thread"), dict)
    return (asks and refusal(moment, "thread_unsupported_request")) or plan


def _refused(moment: Moment, code: str, **values: object) -> Plan | None:
    previous = _previous(moment)
    return refusal(moment, code, id=previous, **values) if previous else None


def _previous(moment: Moment) -> str:
    """The answer that the request continues, "" when it continues none."""
    thread = moment.call.settings.get("thread")
    named = thread.get("previous_message_id") if isinstance(thread, dict) else None
    return named if isinstance(named, str) else ""
