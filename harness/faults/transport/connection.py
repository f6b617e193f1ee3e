"""Connections without an answer, and machines that answer in the provider's place.

In process a client meets its own library's error. A listening server has already accepted, so
refusal and unknown name become a reset, and hangs become silence. Proxies and captive portals
answer for the provider, so its turn is not consumed.
"""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Head, Plan, Raise, Send, Wait
from harness.core.values.strict import Seconds
from harness.faults.shared.pieces import ms

_IN_BETWEEN = ("proxy_error", "redirect", "redirect_as_get", "answered_before_read")
"""What a machine answers in the provider's place."""

STAGE = {"*": "bytes", **dict.fromkeys(_IN_BETWEEN, "value")}
SEAMS = {
    "*": ("model", "tool", "inbox", "outbox", "provider"),
    **dict.fromkeys(_IN_BETWEEN, ("model",)),
}


def latency(moment: Moment, plan: Plan, *, wait_s: Seconds = 1.0) -> Plan:
    """The answer comes whole, `wait_s` seconds late; escalating, twice as late each time."""
    return (Wait(ms(wait_s * moment.harder)), *plan)


def connect_timeout(moment: Moment, plan: Plan, *, wait_s: Seconds = 5.0) -> Plan:
    """The connection is not made within `wait_s` seconds. Over loopback nothing is answered."""
    return (Wait(_patience_ms(moment, wait_s)), Raise("connect_timeout"))


def request_never_read(moment: Moment, plan: Plan, *, wait_s: Seconds = 600.0) -> Plan:
    """The request is not taken: sending it blocks, and times out after `wait_s` seconds.

    Over loopback the request was read, for it is recorded, and nothing is answered.
    """
    return (Wait(_patience_ms(moment, wait_s)), Raise("write_timeout"))


def _patience_ms(moment: Moment, wait_s: float) -> int:
    """`wait_s`, or the client's own patience where it has less."""
    most_ms = moment.call.timeout_ms
    return ms(wait_s) if most_ms is None else min(ms(wait_s), most_ms)


_REASONS = {502: "Bad Gateway", 503: "Service Temporarily Unavailable", 504: "Gateway Time-out"}

_HTML = {"content-type": "text/html"}


def proxy_error(moment: Moment, plan: Plan, *, status: Literal[502, 503, 504] = 502) -> Plan:
    """A proxy cannot reach the provider, and says so in a page of HTML."""
    title = f"{status} {_REASONS[status]}"
    page = (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n"
        f"<center><h1>{title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    )
    return (Send(page.encode(), Head(status, _HTML)),)


def redirect(moment: Moment, plan: Plan, *, status: Literal[307, 308] = 307) -> Plan:
    """The request is redirected to its own address: once, it is a hop more; each time, a loop."""

    return _moved(moment, status)


def redirect_as_get(moment: Moment, plan: Plan, *, status: Literal[301, 302, 303] = 302) -> Plan:
    """The request is sent on in a way that clients follow with a GET: the body is lost.

    The endpoint then refuses the verb.
    """
    return _moved(moment, status)


def answered_before_read(moment: Moment, plan: Plan) -> Plan:
    """A gateway refuses the request for its size (413) and closes, before it has read it.

    Here it was read, for it is recorded; what the client meets is an answer, not a broken pipe.
    """
    page = b"<html><body><h1>413 Request Entity Too Large</h1></body></html>"
    headers = {**_HTML, "content-length": str(len(page)), "connection": "close"}
    return (Send(page, Head(413, headers)), Close())


def _moved(moment: Moment, status: int) -> Plan:
    """An answer that names the same endpoint, relative to itself."""
    location = moment.traits.endpoint
    return (Send(b"", Head(status, {"location": location})),)
