"""Stored rows as messages: wrong agents whose request is not what was stored."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.conversation.projection import NO_OUTCOME, project
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Message, Text, Thinking, ToolResult, ToolUse
from tests.mutants import mutant

WIDTH, NEWEST = 16, 3


def _cleared(rows: Sequence[Message], sent: int) -> list[Message]:
    """The first `sent` rows with a note for each long result but the newest, and the other rows."""
    wire = project(rows)
    results = [block for row in wire[:sent] for block in row.tool_results]
    old = {block.id for block in results[:-NEWEST] if len(block.text) > 999}

    def cleared(block: Block) -> Block:
        is_old = isinstance(block, ToolResult) and block.id in old
        return ToolResult(block.id, "(older results are omitted)") if is_old else block

    return [Message(row.role, tuple(map(cleared, row.blocks))) for row in wire]


def _right_clears_what_was_sent(brief: Brief) -> None:
    """The agent that clears older results of earlier requests only."""
    build(brief, projection=lambda rows: _cleared(rows, -1)).run()


@mutant(
    breaks="projection",
    statement="All but the newest results are cleared, also those that no request has carried",
    scenario="what-the-tools-said/six-at-once",
    killed_by="result_carried.clipped",
    look_alike=_right_clears_what_was_sent,
)
def clears_unread_results(brief: Brief) -> None:
    """Of six results of one answer, the model reads the last three.

    The reference agent that clears older results by their number.
    """
    build(brief, projection=lambda rows: _cleared(rows, len(rows))).run()


def narrow(rows: Sequence[Message]) -> list[Message]:
    """The rows as the column has them."""
    return [Message(row.role, tuple(map(_cut, row.blocks))) for row in project(rows)]


def _cut(block: Block) -> Block:
    if not isinstance(block, Thinking):
        return block
    return msgspec.structs.replace(block, signature=block.signature[:WIDTH])


@mutant(
    breaks="projection",
    statement="A signature of the session's past is altered (anthropics/claude-code #10627)",
    scenario="signature-lost/signed-before-the-run",
    killed_by="valid_request.V16",
)
def cuts_signatures(brief: Brief) -> None:
    """The column for signatures is a few characters wide, and longer ones are cut.

    The reference agent with a narrow column.
    """
    build(brief, projection=narrow).run()


def merge_texts(rows: Sequence[Message]) -> list[Message]:
    """User messages of one text each are merged; all else stays as it is."""
    wire: list[Message] = []
    for row in rows:
        if wire and row.role == wire[-1].role == "user" and is_text(row) and is_text(wire[-1]):
            row = Message("user", (Text(f"{wire.pop().text}\n\n{row.text}"),))
        wire.append(row)
    return wire


def is_text(message: Message) -> bool:
    """Whether a message is one text alone."""
    return len(message.blocks) == 1 and isinstance(message.blocks[0], Text)


@mutant(
    breaks="projection",
    statement="user/user remains where one side is multimodal (seed 150)",
    scenario="damaged-history/image-beside-text",
    killed_by="role_alternation.wire",
)
def merges_text_only(brief: Brief) -> None:
    """Two user messages are merged when both are one text; an image keeps them apart.

    The reference agent that merges texts only.
    """
    build(brief, projection=merge_texts).run()


def joined(rows: Sequence[Message]) -> list[Message]:
    """Neighbours of one side in one message; nothing is looked at."""
    wire: list[Message] = []
    for row in rows:
        if wire and wire[-1].role == row.role:
            row = Message(row.role, wire.pop().blocks + row.blocks)
        wire.append(row)
    return wire


@mutant(
    breaks="projection",
    statement="A result that is stored twice is sent twice (seed 154)",
    scenario="damaged-history/duplicate-results",
    killed_by="valid_request",
)
def sends_duplicate_results(brief: Brief) -> None:
    """Rows of one side are joined, and every result in them is sent.

    The reference agent that pairs nothing.
    """
    build(brief, projection=joined).run()


def narrow_calls(rows: Sequence[Message]) -> list[Message]:
    """The rows as the column for calls has them."""
    return [Message(row.role, tuple(map(_cut_call, row.blocks))) for row in project(rows)]


def _cut_call(block: Block) -> Block:
    if not isinstance(block, ToolUse):
        return block
    kept = {name: str(value)[:WIDTH] for name, value in block.extra.items()}
    return msgspec.structs.replace(block, extra=kept)


@mutant(
    breaks="projection",
    statement="The signature of a call goes back cut (google-gemini/gemini-cli #13467)",
    scenario="call-signature-lost@gemini",
    killed_by="valid_request.G11",
)
def cuts_call_signatures(brief: Brief) -> None:
    """The signatures of calls are kept in the same narrow column as those of thoughts.

    The reference agent with a narrow column for calls.
    """
    build(brief, projection=narrow_calls).run()


@mutant(
    breaks="projection",
    statement="Encrypted reasoning goes back cut (openai/codex #8119, strangers 2)",
    scenario="reasoning-without-its-pair@openai-responses",
    killed_by="valid_request.R23",
)
def cuts_encrypted_reasoning(brief: Brief) -> None:
    """Encrypted reasoning is kept in the same narrow column as signatures.

    The reference agent with a narrow column, on another wire.
    """
    build(brief, projection=narrow).run()


def _this_turn(messages: Sequence[Message]) -> list[Message]:
    said = [i for i, m in enumerate(messages) if m.role == "user" and not m.tool_results]
    return project(messages[said[-1] :] if said else messages)


@mutant(
    breaks="projection",
    statement="A failed resume falls back to a fresh session without notice (incidents 175)",
    scenario="replay-spiral",
    killed_by="history_faithful.forgotten_reply",
)
def forgets_past_turns(brief: Brief) -> None:
    """Each turn starts from nothing: the request holds what was said since the last message alone.

    The reference agent without a memory of former turns.
    """
    build(brief, projection=_this_turn).run()


def _taken_back(rows: Sequence[Message]) -> list[Message]:
    wire = list[Message]()
    for row in project(rows):
        if row.role == "assistant" and row.text.startswith("The model refused"):
            del wire[-2:]
        wire.append(row)
    return wire


@mutant(
    breaks="projection",
    statement="A failed turn is taken back by two messages, and it had one (unseen, A)",
    scenario="one-turn-of-four-fails",
    killed_by="history_faithful.forgotten_reply",
)
def takes_back_too_much(brief: Brief) -> None:
    """What a turn that failed has added is taken back, and with it the reply before.

    The reference agent that takes back an exchange where the model refused.
    """
    build(brief, projection=_taken_back).run()


def _without_tools(messages: Sequence[Message]) -> list[Message]:
    return project([m for m in messages if not m.tool_results and not m.tool_uses])


@mutant(
    breaks="projection",
    statement="A proxy strips calls and results, so request N+1 is request N (incidents 71)",
    scenario="identical-failures/polling",
    killed_by="history_faithful.forgotten_result",
)
def forgets_results(brief: Brief) -> None:
    """What tools returned is stripped from the history on its way to the model.

    The reference agent whose requests never show what its tools did.
    """
    build(brief, projection=_without_tools).run()


def _marked(rows: Sequence[Message]) -> list[Message]:
    wire = project(rows)
    return [*map(_stored, wire[:-3]), *wire[-3:]]


def _stored(message: Message) -> Message:
    return Message(message.role, tuple(map(_mark, message.blocks)))


def _mark(block: Block) -> Block:
    if isinstance(block, Text):
        return msgspec.structs.replace(block, extra={"_stored": True})
    return block


@mutant(
    breaks="projection",
    statement="The marker of a stored row reaches the provider (seed 143)",
    scenario="replay-spiral",
    killed_by="valid_request.V29",
)
def marker_on_the_wire(brief: Brief) -> None:
    """Messages get a marker when they are flushed, one turn later, and it is sent with them.

    The reference agent that sends its markers.
    """
    build(brief, projection=_marked).run()


def _unstubbed(rows: Sequence[Message]) -> list[Message]:
    wire = [Message(m.role, tuple(b for b in m.blocks if not _is_stub(b))) for m in project(rows)]
    return [message for message in wire if message.blocks]


def _is_stub(block: object) -> bool:
    return isinstance(block, ToolResult) and block.content == NO_OUTCOME


@mutant(
    breaks="projection",
    statement="A call without a result makes every later request invalid (seed 152)",
    scenario="damaged-history/no-result",
    killed_by="valid_request",
)
def no_stub_for_a_missing_result(brief: Brief) -> None:
    """A call whose result is missing is sent without one. The reference agent without stubs."""
    build(brief, projection=_unstubbed).run()


def _noted(rows: Sequence[Message]) -> list[Message]:
    first, *rest = project(rows)
    note = Text(f"[{len(rows)} stored messages, {len(rows) - len(rest) - 1} of them repaired]")
    return [Message(first.role, (*first.blocks, note)), *rest]


@mutant(
    breaks="projection",
    statement="Repair that differs each turn breaks the prefix (seed 161, hermes #82925)",
    scenario="damaged-history",
    killed_by="append_only_prefix.messages",
)
def prefix_changes(brief: Brief) -> None:
    """The repair leaves a note of how often it was made, at the beginning.

    The reference agent whose requests begin differently in each turn.
    """
    build(brief, projection=_noted).run()


def _each_once(rows: Sequence[Message]) -> list[Message]:
    """Each text of the user once; the newest message stays."""
    *past, newest = project(rows)
    wire, seen = list[Message](), set[str]()
    for row in past:
        if row.role == "user" and is_text(row) and row.text in seen:
            continue
        seen.add(row.text)
        if wire and wire[-1].role == row.role == "assistant":
            row = Message("assistant", (*wire.pop().blocks, *row.blocks))
        wire.append(row)
    return [*wire, newest]


@mutant(
    breaks="projection",
    statement='A second "yes" is taken for a copy in the history (mpfaffenberger/code_puppy#781)',
    scenario="said-twice-by-the-user",
    killed_by="history_faithful.forgotten_message",
)
def holds_each_text_once(brief: Brief) -> None:
    """What the user says again in equal words is left out of later requests.

    The reference agent that compares texts in its history.
    """
    build(brief, projection=_each_once).run()


def _rewritten(rows: Sequence[Message]) -> list[Message]:
    return [Message(row.role, tuple(map(_change, row.blocks))) for row in project(rows)]


def _change(block: Block) -> Block:
    if not isinstance(block, Thinking) or not block.redacted:
        return block
    return msgspec.structs.replace(block, redacted=block.redacted[:-4])


@mutant(
    breaks="projection",
    statement="The data of a redacted thought is altered (anthropics/claude-code #56708)",
    scenario="signature-lost/signed-before-the-run",
    killed_by="valid_request.V16a",
)
def rewrites_redacted_thoughts(brief: Brief) -> None:
    """The data of a redacted thought is decoded and written again, without its last byte.

    The reference agent that rewrites redacted thoughts.
    """
    build(brief, projection=_rewritten).run()


@mutant(
    breaks="projection",
    statement="An orphan or late result reaches the provider (seeds 135, 153)",
    scenario="damaged-history/result-behind-the-user",
    killed_by="valid_request",
)
def sends_orphan_results(brief: Brief) -> None:
    """A result whose call is not in the message before is sent all the same.

    The reference agent that sends orphans.
    """
    build(brief, projection=joined).run()


@mutant(
    breaks="projection",
    statement="Early versions send adjacent assistant rows (seed 155)",
    scenario="damaged-history/two-answers",
    killed_by="role_alternation.wire",
)
def two_assistants_in_a_row(brief: Brief) -> None:
    """Adjacent answers are sent as they are stored. The reference agent that merges no answers."""
    build(brief, projection=merge_texts).run()
