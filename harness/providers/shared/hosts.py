"""Hosts that offer another provider's models: what they change of its requests and its answers.

An answer is written and bent by faults as the provider's own. Here it gets the host's shape: the
words of errors, the names of headers, and the frames of a stream. Two tables say how.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.core.values.plans import Head, Plan, Send, Step
from harness.core.values.table_file import table
from harness.providers.shared import json_fields as f
from harness.providers.shared import sse
from harness.providers.shared.codec import encode
from harness.providers.shared.event_stream import (
    CONTENT_TYPE,
    event_frame,
    exception_frame,
    split_events,
)
from harness.providers.shared.record import ProviderRecord
from harness.providers.shared.rules import RuleTable


class Host(msgspec.Struct, frozen=True):
    """What a platform changes; `framed`: a stream comes in frames of AWS.

    `variable` is where the platform's client finds its base URL in the environment.
    """

    name: str
    error: dict[str, Json]
    needs: tuple[str, ...] = ()
    bars: tuple[str, ...] = ()
    request_id: str = ""
    drops: tuple[str, ...] = ()
    error_header: str = ""
    framed: bool = False
    variable: str = ""


class HostError(msgspec.Struct, frozen=True):
    """How a host says an error: `error` is `HOST/CODE` or `HOST/TYPE`.

    `usual` is the provider's status for it. Any other status was asked for, and stands.
    """

    error: str
    usual: int
    status: int
    name: str
    known: str
    source: str


@cache
def hosts() -> MappingProxyType[str, Host]:
    """The hosts by name."""
    return table("harness.providers.shared", "hosts.tsv", Host)


@cache
def _errors() -> MappingProxyType[str, HostError]:
    return table("harness.providers.shared", "host_errors.tsv", HostError)


_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def fields_of(body: bytes) -> dict[str, msgspec.Raw] | None:
    """The fields of a body; None for a body that is not an object."""
    try:
        return _FIELDS.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


class HostedEndpoint:
    """One host as a run meets it; `rules` are the provider's, for fields that must move."""

    def __init__(self, host: Host, record: ProviderRecord, rules: RuleTable) -> None:
        self._host, self._record, self._rules = host, record, rules

    def refused(self, body: bytes, dialect: str) -> tuple[Violation, ...]:
        """What the host refuses in a body because the address says it, or does not."""
        held = fields_of(body) or {}
        missing = [("V32", name) for name in _missing(self._host, body)]
        extra = [("V29", name) for name in self._host.bars if name in held]
        active = self._rules.active(dialect)
        broken = [pair for pair in (*missing, *extra) if pair[0] in active]
        return tuple(self._rules.violation(rule, path=name) for rule, name in broken)

    def sent(self, plan: Plan) -> Plan:
        """The plan as the host sends it; bytes with their own head stay as they are."""
        first = next((step for step in plan if isinstance(step, Send)), None)
        if first is None or first.head is None or "content-encoding" in _small(first.head):
            return plan
        head = self._head(first.head)
        kind = _small(head).get("content-type", "")
        if head.status >= 400:
            return self._refusal(plan, head)
        if self._host.framed and "event-stream" in kind:
            return _framed(self._host, plan, head)
        return _headed(plan, head)

    def _head(self, head: Head) -> Head:
        id_ = _small(head).get(self._record.headers.request_id)
        kept = {
            name: value
            for name, value in head.headers.items()
            if not name.lower().startswith(self._host.drops)
        }
        named = {self._host.request_id: id_} if self._host.request_id and id_ else {}
        return Head(head.status, {**kept, **named})

    def _refusal(self, plan: Plan, head: Head) -> Plan:
        body = b"".join(step.data for step in plan if isinstance(step, Send))
        error = f.mapping(f.mapping(f.parse(body)).get("error"))
        row = _row(self._host, error)
        if row is None:
            return _headed(plan, head)
        status = row.status if head.status == row.usual else head.status
        said = {"status": status, "name": row.name, "message": f.text(error.get("message"))}
        data = encode(_filled(self._host.error, said))
        header = self._host.error_header
        named = {**head.headers, **({header: row.name} if header else {})}
        return _whole(plan, Head(status, _sized(named, len(data) - len(body))), data)


def endpoint(record: ProviderRecord, rules: RuleTable, path: str) -> HostedEndpoint | None:
    """The endpoint at a path; None for an address of the provider's own."""
    row = record.address_of(path)
    host = hosts().get(row.host) if row is not None else None
    return None if host is None else HostedEndpoint(host, record, rules)


def is_foreign(record: ProviderRecord, path: str, body: bytes) -> bool:
    """Whether a recorded body is for a model of another maker, offered at the same addresses."""
    row = record.address_of(path)
    host = hosts().get(row.host) if row is not None else None
    return host is not None and bool(_missing(host, body))


def _missing(host: Host, body: bytes) -> list[str]:
    held = fields_of(body)
    return [] if held is None else [name for name in host.needs if name not in held]


def _small(head: Head) -> dict[str, str]:
    return {name.lower(): value for name, value in head.headers.items()}


def _row(host: Host, error: dict[str, Json]) -> HostError | None:
    names = (f"{host.name}/{f.text(error.get(field))}" for field in ("code", "type"))
    return next(filter(None, map(_errors().get, names)), None)


def _filled(value: Json, said: dict[str, Json]) -> Json:
    if isinstance(value, dict):
        return {name: _filled(part, said) for name, part in value.items()}
    if isinstance(value, str) and value[1:-1] in said:
        return said[value[1:-1]]
    return value


def _sized(headers: dict[str, str], more: int) -> dict[str, str]:
    """The headers of a body that has grown; a length that was false stays as false as it was."""
    return {
        name: str(int(value) + more) if _is_length(name, value) else value
        for name, value in headers.items()
    }


def _is_length(name: str, value: str) -> bool:
    return name.lower() == "content-length" and value.isdecimal()


def _headed(plan: Plan, head: Head) -> Plan:
    return tuple(
        Send(step.data, head) if isinstance(step, Send) and step.head is not None else step
        for step in plan
    )


def _whole(plan: Plan, head: Head, data: bytes) -> Plan:
    """The plan with this body, all of it in its first send."""
    steps: list[Step] = []
    for step in plan:
        if not isinstance(step, Send):
            steps.append(step)
        elif step.head is not None:
            steps.append(Send(data, head))
    return tuple(steps)


def _framed(host: Host, plan: Plan, head: Head) -> Plan:
    """The plan with its events in frames; an event that breaks off is a frame that does."""
    steps: list[Step] = []
    rest, grown = b"", 0
    for step in plan:
        if not isinstance(step, Send):
            if rest:
                steps.append(Send(_torn(rest)))
                grown, rest = grown + len(_torn(rest)), b""
            steps.append(step)
            continue
        events, rest = split_events(rest + step.data)
        data = b"".join(part for event in events for part in _frames(host, event))
        grown += len(data) - len(step.data)
        if data or step.head is not None:
            steps.append(Send(data, head if step.head is not None else None))
    if rest:
        steps.append(Send(_torn(rest)))
        grown += len(_torn(rest))
    typed = {
        name: CONTENT_TYPE if name.lower() == "content-type" else value
        for name, value in head.headers.items()
    }
    return _headed(tuple(steps), Head(head.status, _sized(typed, grown)))


def _frames(host: Host, event: bytes) -> Iterator[bytes]:
    """An event as frames; a comment, which says nothing, has none."""
    for found in sse.events(event.decode("utf-8", "surrogateescape")):
        if not found.data:
            continue
        error = f.mapping(f.mapping(f.parse(found.data)).get("error"))
        if found.name != "error":
            yield event_frame(found.data.encode("utf-8", "surrogateescape"))
        elif (row := _row(host, error)) is not None:
            yield exception_frame(row.name[:1].lower() + row.name[1:], f.text(error.get("message")))
        else:
            yield exception_frame("modelStreamErrorException", found.data)


def _torn(rest: bytes) -> bytes:
    frame = event_frame(rest)
    return frame[: len(frame) // 2]
