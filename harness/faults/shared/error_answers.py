"""Errors as a seam says them; nothing here is a fault.

A model's provider knows its envelope and its words. Tools, inbox and outbox answer JSON.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import ModelRequest, ProviderRequest
from harness.core.values.plans import Answer, ApiError, Head, Plan, Send
from harness.core.values.table_file import pairs

TYPES = {int(status): cause for status, cause in pairs(__package__, "causes.tsv").items()}
"""The cause that goes with a status. Each provider has its own words for a cause."""


def error(
    moment: Moment,
    status: int,
    message: str = "",
    *,
    type: str = "",
    headers: dict[str, str] | None = None,
    code: str = "",
    stated: bool = False,
) -> Plan:
    """An error, on the seams of the provider in its own words where there is no `message`.

    `type` is a neutral cause, by default that of the status; `code` is the finer name that some
    errors have. The provider answers with the status
    that it has for the cause, unless a scenario has `stated` this one.
    """
    headers, kind = headers or {}, type or type_of(status)
    if moment.call.seam not in ("model", "provider"):
        head = Head(status, {"content-type": "application/json", **headers})
        return (Send(msgspec.json.encode({"error": message or words_of(kind)}), head),)
    asked = ApiError(status if stated else 0, kind, message, headers, code)
    said = own_error(moment, asked)
    return (Answer(said if said.status else msgspec.structs.replace(said, status=status)),)


def own_error(moment: Moment, asked: ApiError) -> ApiError:
    """An error in the provider's words, its text filled in."""
    said = moment.traits.own_error(asked)
    if asked.message:
        return said
    request = moment.call.request
    model = request.model if isinstance(request, (ModelRequest, ProviderRequest)) else ""
    text = said.message.replace("{model}", model) or words_of(said.type)
    return msgspec.structs.replace(said, message=text)


def words_of(kind: str) -> str:
    """What is said of a cause where no provider has words for it."""
    return kind.replace("_", " ").capitalize()


def type_of(status: int) -> str:
    """The type that goes with a status."""
    return TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")


def page(status: int, words: str, headers: dict[str, str] | None = None) -> Plan:
    """A page of HTML with a status, as a machine before the provider says it."""
    html = f"<html><body><h1>{status} {words}</h1></body></html>"
    return (Send(html.encode(), Head(status, {"content-type": "text/html", **(headers or {})})),)


def refusal(moment: Moment, rule: str, **values: object) -> Plan | None:
    """What the wire answers where `rule` is broken; None where it has no such rule.

    Blanks of its text that `values` leave open are filled with what the request holds.
    """
    refused = moment.refusals.get(rule)
    if refused is None:
        return None
    filled = _Filled(_EXAMPLES | _of_request(moment) | values)
    return (Answer(msgspec.structs.replace(refused, message=refused.message.format_map(filled))),)


_EXAMPLES: dict[str, object] = {**pairs(__package__, "blanks.tsv")}
"""What fills a blank about which a request says nothing."""


class _Filled(dict[str, object]):
    """Values of a template; a blank that has none says its own name."""

    def __missing__(self, name: str) -> str:
        return name


def _of_request(moment: Moment) -> dict[str, object]:
    messages = moment.call.messages
    uses = [use.id for message in messages for use in message.tool_uses]
    last = uses[-1] if uses else "toolu_01"
    return {"n": max(0, len(messages) - 1), "ids": last, "id": last}


def too_long(moment: Moment, tokens: int, window: int) -> Plan:
    """The refusal of a prompt over the window, in the provider's words where it has them."""
    text = f"prompt is too long: {tokens} tokens > {window} maximum"  # as most plug-ins' APIs say
    own = refusal(moment, "V23", tokens=tokens, window=window)
    return own or error(moment, 400, text)
