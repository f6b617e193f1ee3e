"""Faults of machines between the agent and the provider: proxies, gateways, captive portals.

They answer in the provider's place, with what no provider would say, so its turn is not consumed.
"""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Head, Plan, Send

STAGE = "value"

SEAMS = ("model",)

CODES = {
    "proxy_error": ("T19",),
    "login_page": ("T20",),
    "redirect": ("T21",),
    "redirect_as_get": ("T21",),
    "answered_before_read": ("T24",),
}

_REASONS = {502: "Bad Gateway", 503: "Service Temporarily Unavailable", 504: "Gateway Time-out"}
_HTML = {"content-type": "text/html"}
_LAST_PART = {"anthropic": "messages", "openai-chat": "completions"}


def proxy_error(moment: Moment, plan: Plan, *, status: Literal[502, 503, 504] = 502) -> Plan:
    """A proxy cannot reach the provider, and says so in a page of HTML."""
    title = f"{status} {_REASONS[status]}"
    page = (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n"
        f"<center><h1>{title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    )
    return (Send(page.encode(), Head(status, _HTML)),)


def login_page(moment: Moment, plan: Plan) -> Plan:
    """A captive portal answers 200 with a page that asks to log in."""
    page = (
        "<!DOCTYPE html><html><head><title>Sign in to the network</title></head><body>"
        '<form action="/login"><input name="user"><input name="password"></form></body></html>'
    )
    return (Send(page.encode(), Head(200, _HTML)),)


def redirect(moment: Moment, plan: Plan, *, status: Literal[307, 308] = 307) -> Plan:
    """The request is sent on to where it went: once a hop more, for ever a loop."""
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
    location = _LAST_PART.get(moment.wire, "responses")
    return (Send(b"", Head(status, {"location": location})),)
