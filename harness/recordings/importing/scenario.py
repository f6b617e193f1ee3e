"""A story as the keys of a scenario file, in the order in which a reader wants them.

What is written is the file's short form, not the struct: that is what somebody will read, cut down
and keep. The limits leave room for every recorded call; the checks that fired over the recording
are asked for by name, so that a run in which they cannot be asked is no pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.scenario.scenario import Limits
from harness.core.values.messages import Json, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.recordings.importing import fidelity
from harness.recordings.importing.answers import tools
from harness.recordings.importing.fidelity import Account, Fidelity
from harness.recordings.importing.story import Failed, Fork, Heard, Said, Story, fork
from harness.recordings.importing.troubles import faults
from harness.recordings.importing.turns import script

_WIRES = ("anthropic", "openai-chat", "openai-responses")
_ROOM = 20
"""So many calls more than were recorded an agent may make."""


class Imported(msgspec.Struct, frozen=True):
    """A scenario file's keys, and how near they are to the recording."""

    document: dict[str, Json]
    fidelity: Fidelity


def imported(
    story: Story,
    *,
    name: str,
    title: str,
    source: Sequence[str],
    fired: Sequence[str],
    at: int | None,
    account: Account,
) -> Imported:
    """The scenario of a story from turn `at` on; `fired` are the checks that found something.

    Raises InputError for a turn that there is not, and for a story that cannot be played.
    """
    cut = fork(story, at)
    wire = story.wire if story.wire in _WIRES else "anthropic"
    if wire != story.wire and story.wire:
        account.note(fidelity.WIRE)
    account.note(fidelity.SYSTEM, int(story.system))
    account.note(fidelity.EARLIER, len(cut.before))
    document: dict[str, Json] = {"name": name, "title": title, "source": list(source)}
    document |= {"wire": wire} if wire != "anthropic" else {}
    document |= {"stream": True} if story.stream else {}
    document |= _session(cut)
    document |= {"tools": made} if (made := tools(cut.steps, story.tools, account)) else {}
    document["inbox"] = _inbox(cut)
    document["script"] = script(cut.steps, wire, account)
    if troubles := faults(cut.steps, story.stream):
        document["faults"] = troubles
        account.note(fidelity.FAILURES, sum(isinstance(s, Failed) for s in cut.steps))
    document |= _limits(cut)
    document |= {"expect": {"must": list(fired)}} if fired else {}
    return Imported(document, account.closed())


def _session(cut: Fork) -> dict[str, Json]:
    messages = [_seed(message) for message in cut.before if message.blocks]
    return {"session": {"messages": messages}} if messages else {}


def _seed(message: Message) -> dict[str, Json]:
    role = "assistant" if message.role == "assistant" else "user"
    plain = len(message.blocks) == 1 and isinstance(message.blocks[0], Text)
    blocks = [_block(block) for block in message.blocks]
    return {"role": role, "content": message.text if plain else blocks}


def _block(block: Text | Thinking | ToolUse | ToolResult | Opaque) -> dict[str, Json]:
    """A block as scenario files write it; an opaque one as its provider does."""
    if isinstance(block, Opaque):
        return dict(block.value)
    plain: dict[str, Json] = msgspec.to_builtins(block)
    if isinstance(block, ToolResult) and not isinstance(block.content, str):
        plain["content"] = block.text
    return plain


def _inbox(cut: Fork) -> Json:
    heard = [step for step in cut.steps if isinstance(step, Heard)]
    if len(heard) == 1 and heard[0].session == "main":
        return heard[0].text
    return [_item(number, step) for number, step in enumerate(heard, start=1)]


def _item(number: int, heard: Heard) -> dict[str, Json]:
    session = {"session": heard.session} if heard.session != "main" else {}
    return {"id": f"m{number}", **session, "text": heard.text}


def _limits(cut: Fork) -> dict[str, Json]:
    """Limits that leave room for what was recorded, where the usual ones do not."""
    model = sum(isinstance(step, (Said, Failed)) for step in cut.steps) + _ROOM
    tool = sum(len(step.results) for step in cut.steps if isinstance(step, Said)) + _ROOM
    wanted = {"model_calls": model, "tool_calls": tool}
    usual = Limits()
    limits = {name: n for name, n in wanted.items() if n > getattr(usual, name)}
    return {"limits": limits} if limits else {}
