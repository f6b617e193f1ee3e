"""Calls: the values that cross a seam from the agent to the world.

A recorded model request names the call that it continues (`after`), how many messages it keeps, and
the digests of the rest. So its size stays constant as the run grows. A `Call` has values in place
of digests, for scripts and faults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from harness.core.values.messages import Json, Message, ToolSpec

Seam = Literal["model", "tool", "approval", "inbox", "outbox", "store", "provider", "file"]
"""`file` is a write to the agent's own files: no call, so no history records one."""

Purpose = Literal["main", "compact", "aux"]
InboundKind = Literal["message", "cancel", "disconnect"]
OutboundKind = Literal["partial", "final", "notice", "error", "heartbeat", "compaction"]
Access = Literal["open", "read", "write"]


class ModelRequest(msgspec.Struct, frozen=True, gc=False, tag="model", omit_defaults=True):
    """A request to the model. `system` and `tools` are digests of values in the history.

    The messages are the first `keep` of the call `after`, then `messages` (digests). `stateful`:
    the provider holds earlier messages that the harness did not see. `settings` is the digest of
    the body's other fields, and `header_set` numbers the headers; both serve only to compare
    requests. `unread`: the body, or the conversation that it continues, is unreadable. `took` are
    the ids of the messages that came while the turn was open, and that this request holds.
    """

    model: str
    messages: tuple[str, ...]
    after: str = ""
    keep: int = 0
    system: str = ""
    tools: str = ""
    tools_offered: bool = False
    max_tokens: int | None = None
    stream: bool = False
    headers: dict[str, str] = {}
    stateful: bool = False
    settings: str = ""
    header_set: int = 0
    unread: bool = False
    took: tuple[str, ...] = ()


class ProviderRequest(msgspec.Struct, frozen=True, gc=False, tag="provider", omit_defaults=True):
    """The agent asks the provider for facts, not for a reply: `count_tokens`, or `models`.

    `model` is the model that the question is about, "" for all; `tokens` the size of the prompt.
    """

    operation: str
    model: str = ""
    tokens: int = 0


class ToolRequest(msgspec.Struct, frozen=True, gc=False, tag="tool", omit_defaults=True):
    """The agent runs a tool: `id` is the model's id for the call."""

    id: str
    name: str
    input: Json = None


class ApprovalRequest(msgspec.Struct, frozen=True, gc=False, tag="approval", omit_defaults=True):
    """The agent asks the user whether a call may run: its id, its tool, and the input shown.

    `plain`: the channel carries a yes or a no alone, as that of ACP does.
    """

    id: str
    name: str
    input: Json = None
    plain: bool = False


class InboxRequest(msgspec.Struct, frozen=True, gc=False, tag="inbox", omit_defaults=True):
    """The agent asks for the next inbound message, which ends the turn of the one before.

    `poll`: it only checks, during a turn, whether the user has cancelled. `cancels`: it takes
    cancels and disconnects here too; otherwise a cancel between turns is skipped. `pushed`: the
    harness notified it of a cancel at once, without a request of the agent. `reader`: the agent
    takes messages while it works, so the question ends no turn. `refused`: why the message before
    was not accepted, as a status; it is offered again.
    """

    poll: bool = False
    cancels: bool = False
    pushed: bool = False
    reader: bool = False
    refused: str = ""


class OutboxRequest(msgspec.Struct, frozen=True, gc=False, tag="outbox", omit_defaults=True):
    """A message from the agent to the user. `status` is the agent's own word for the outcome of the
    turn. `also` names the further messages that one reply answers."""

    kind: OutboundKind
    text: str
    in_reply_to: str = ""
    status: str = ""
    also: tuple[str, ...] = ()

    @property
    def closes(self) -> bool:
        """Whether it is the last word about a message: a reply, or that its turn was cancelled."""
        is_cancelled = self.status == "cancelled" and bool(self.in_reply_to)
        return self.kind in ("final", "error") or is_cancelled

    @property
    def answers(self) -> tuple[str, ...]:
        """The ids of the messages that it answers, in the agent's order."""
        return (self.in_reply_to, *self.also) if self.in_reply_to else ()


class StoreRequest(msgspec.Struct, frozen=True, gc=False, tag="store", omit_defaults=True):
    """The agent opens, reads or writes its session store, on a run with a fault on that seam.

    `operation` is the method, `rows` the digests of the messages that it writes, `store` the kind
    of store (`sqlite`, `jsonl`).
    """

    operation: str
    rows: tuple[str, ...] = ()
    access: Access = "write"
    store: str = ""


Request: TypeAlias = (
    ModelRequest
    | ToolRequest
    | ApprovalRequest
    | InboxRequest
    | OutboxRequest
    | StoreRequest
    | ProviderRequest
)


class Inbound(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A message of the user, a cancel or a disconnect, as the agent gets it.

    `attempt` counts how often it was offered, until the agent accepted it. `attributes` are what
    its channel says beside it, such as a thread; no check reads them.
    """

    id: str
    session: str = "main"
    text: str = ""
    kind: InboundKind = "message"
    at_ms: int = 0
    attempt: int = 1
    attributes: dict[str, Json] = {}


class Approval(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The user's answer to a request for approval.

    `id` is the call that it is about, which the agent has to compare. `input` is what may run: as
    shown, or as the user has edited it. `always`: further calls of the tool in this session need no
    question. `expired`: the user did not answer in time.
    """

    id: str
    answer: Literal["allow", "deny", "expired"] = "allow"
    input: Json = None
    reason: str = ""
    always: bool = False


class Received(msgspec.Struct, frozen=True, gc=False):
    """A model request as the transport received it: the body's bytes, with path, headers and time.

    `timeout_ms` is how long the client waits for one read, None if it is unknown. `query` is the
    query of the URL.
    """

    path: str
    headers: dict[str, str]
    body: bytes
    at_ms: int
    session: str = ""
    timeout_ms: int | None = None
    query: str = ""


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call as a script or a fault sees it.

    `n` counts the calls of this session on this seam from 1. For a model call `messages`, `system`
    and `tools` are the whole request, `settings` the other fields of its body, `tokens` its size.
    `provider` is the one whose API it asks.
    """

    key: str
    seam: Seam
    n: int
    session: str
    turn: int
    at_ms: int
    request: Request
    purpose: Purpose = "main"
    messages: Sequence[Message] = ()
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    settings: dict[str, Json] = {}
    timeout_ms: int | None = None
    tokens: int = 0
    provider: str = ""
