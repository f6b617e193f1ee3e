"""Thinking blocks, what they are bound to, and their rules V15 to V18.

A signature covers a block's text, its place in the turn, its model, the thinking before it, and its
prefix: system, tools and earlier blocks that are not thinking. The prefix is a lazy chain of
digests. Neighbouring messages of one role are one turn. A changed block is V15 in the latest
assistant turn and V16 before it; an empty, broken or foreign signature is V16. A changed
conversation, and a gap in its thinking, is V17 for models that bind thinking, unless the request
asks to drop the block. Thinking may be left out from the first one on. A block that the model
cannot read is dropped without an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from harness.core.transition.ports import IssuedThinking, Violation
from harness.core.values.messages import Json, Message, Thinking, canonical
from harness.providers.anthropic.fields import AnthropicFields
from harness.providers.anthropic.models import model, model_code, model_of
from harness.providers.anthropic.record import violation
from harness.providers.shared.signatures import Part, Signer, part

SIGNER = Signer(b"lh\x01", b"loop-harness: thinking and summaries")

Flawed = Literal["changed", "forged", "redacted", "moved", "unreadable"]
"""Another text or place than was signed; a signature that is no one's, or such data of a redacted
block; another prefix; a model that does not read what that one thought."""


class Flaw(msgspec.Struct, frozen=True):
    """What is wrong with the block `m` of the message `n`, whose turn begins at `turn`."""

    n: int
    m: int
    turn: int
    kind: Flawed


class Bindings:
    """The thinking of one session's last request; `flaws` is what is wrong with it."""

    def __init__(self) -> None:
        self._chain: list[bytes] = [b""]
        self._signed: list[tuple[int, int]] = []
        self.flaws: list[Flaw] = []
        self.messages: Sequence[Message] = ()
        self.issued: IssuedThinking | None = None
        """What else was signed in this run; None takes any signature of others."""
        self._said: AnthropicFields | None = None
        self._head: Part = b""

    def follow(self, messages: Sequence[Message], keep: int, said: AnthropicFields) -> None:
        """The next request: the first `keep` messages are those of the last one."""
        if messages is self.messages and said is self._said:
            return
        self.messages = messages
        if self._signed or len(self._chain) > 1:
            self._rewind(keep)
        new: list[tuple[int, int]] = []
        for n in range(keep, len(messages)):
            if messages[n].role == "assistant" and Thinking in map(type, messages[n].blocks):
                new += [(n, m) for m in self._judgeable(messages[n])]
        # A signature binds thinking to the system text, the tools and the model. A change of one
        # of them reopens each block that was judged before.
        if said is not self._said and self._is_moved(said):
            self.flaws, new = [], self._signed + new
            self._signed = []
        if new:
            self._signed += new
            for n, m in new:
                self.flaws += self._flaw(n, m)

    def _rewind(self, keep: int) -> None:
        del self._chain[keep + 1 :]
        self._signed = [at for at in self._signed if at[0] < keep]
        self.flaws = [flaw for flaw in self.flaws if flaw.n < keep]

    def _is_moved(self, said: AnthropicFields) -> bool:
        before, before_said, self._said = self._head, self._said, said
        self._head = b""
        switched = before_said is not None and before_said.model != said.model
        return bool(self._signed) and (switched or self._fields() != before)

    def _fields(self) -> Part:
        if not self._head and self._said is not None:
            tools = [[t.name, t.description, t.input_schema] for t in self._said.tools]
            self._head = part([self._said.system, tools])
        return self._head

    def sign(self, thinking: Thinking, earlier: Sequence[Thinking]) -> Thinking:
        """An answer's thinking, signed; `earlier` is what was thought before in the answer."""
        count = len(self.messages)
        start = _turn(self.messages, count)
        place = len(earlier) + sum(1 for _ in self._thoughts(start, count))
        last = earlier[-1] if earlier else self._last_thought(count)
        by = model_code(self._said.model if self._said else "")
        words = part([thinking.text, place])
        sealed = SIGNER.seal(words, self._prefix(start), by, _named(last))
        return Thinking(thinking.text, sealed, thinking.redacted)

    def _flaw(self, n: int, m: int) -> Iterator[Flaw]:
        block = self.messages[n].blocks[m]
        assert isinstance(block, Thinking)
        turn = _turn(self.messages, n)
        kind = self._judged(block, n, m, turn)
        if kind:
            yield Flaw(n, m, turn, kind)

    def _judged(self, block: Thinking, n: int, m: int, turn: int) -> Flawed | None:
        if block.redacted or not SIGNER.is_ours(block.signature):
            return self._foreign(block)
        parts = SIGNER.parts_of(block.signature)
        if parts is None or len(parts) != 4:
            return "forged"
        place = sum(1 for _ in self._thoughts(turn, n)) + sum(
            1 for b in self.messages[n].blocks[:m] if isinstance(b, Thinking)
        )
        if parts[0] != part([block.text, place]):
            return "changed"
        reader, signer = model(self._said.model if self._said else ""), model_of(parts[2])
        if reader.known and not signer.known:
            # A model of another maker speaks this API too, and signs on its own.
            # Source: NousResearch/hermes-agent#24401 (MiniMax), #109232 (Kimi).
            return "forged"
        if not reader.reads(signer):
            return "unreadable"
        last = self._last_thought(n, m)
        follows = last is None or parts[3] == _named(last)
        is_bound = follows and parts[1] == self._prefix(turn)
        return None if is_bound and not self._has_moved() else "moved"

    def _has_moved(self) -> bool:
        """Whether an earlier block is bound to another conversation: then so are all after it."""
        return any(flaw.kind == "moved" for flaw in self.flaws)

    def _last_thought(self, n: int, m: int = 0) -> Thinking | None:
        """The last thinking before the block `m` of the message `n`."""
        blocks = list(self.messages[n].blocks[:m]) if m else []
        while not any(isinstance(block, Thinking) for block in blocks) and n:
            n -= 1
            blocks = list(self.messages[n].blocks)
        return next((b for b in reversed(blocks) if isinstance(b, Thinking)), None)

    def _judgeable(self, message: Message) -> list[int]:
        """The thinking that can be judged: without `issued`, not what others signed."""
        thoughts = ((m, b) for m, b in enumerate(message.blocks) if isinstance(b, Thinking))
        if self.issued is not None:
            return [m for m, _ in thoughts]
        return [
            m
            for m, b in thoughts
            if not b.redacted and (not b.signature or SIGNER.is_ours(b.signature))
        ]

    def _foreign(self, block: Thinking) -> Flawed | None:
        name = block.redacted or block.signature
        texts = self.issued.texts(name) if self.issued is not None and name else ()
        if block.text in texts:
            return None
        if block.redacted:
            return "redacted"
        return "changed" if texts else "forged"

    def _thoughts(self, start: int, stop: int) -> Iterator[Thinking]:
        for message in self.messages[start:stop]:
            yield from (block for block in message.blocks if isinstance(block, Thinking))

    def _prefix(self, n: int) -> Part:
        while len(self._chain) <= n:
            digest = self._chain[-1]
            message = self.messages[len(self._chain) - 1]
            for block in message.blocks:
                if isinstance(block, Thinking):
                    continue
                said = f"{message.role}\0{canonical(block)}".encode()
                digest = hashlib.blake2b(digest + said, digest_size=16).digest()
            self._chain.append(digest)
        return part([self._fields().hex(), self._chain[n].hex()])


def _named(thought: Thinking | None) -> Part:
    return part([thought.redacted or thought.signature] if thought else [])


def _turn(messages: Sequence[Message], n: int) -> int:
    while n and messages[n - 1].role == "assistant":
        n -= 1
    return n


def _latest_turn(messages: Sequence[Message]) -> int:
    n = len(messages)
    while n and messages[n - 1].role != "assistant":
        n -= 1
    return _turn(messages, n)


def judged(
    bindings: Bindings, settings: dict[str, Json], model_name: str, active: frozenset[str]
) -> tuple[Violation, ...]:
    """What the thinking of the request breaks."""
    flaws = bindings.flaws
    strict, latest = "V18" in active, -1  # only `strict` has that rule
    if any(flaw.kind == "changed" for flaw in flaws):
        latest = _latest_turn(bindings.messages)
    refuses = binds(model_name, strict=strict) and not drops(settings)
    named = ((_rule(flaw, latest, refuses=refuses), flaw.n, flaw.m) for flaw in flaws)
    return tuple(violation(rule, n=n, m=m) for rule, n, m in named if rule in active)


def _rule(flaw: Flaw, latest: int, *, refuses: bool) -> str:
    match flaw.kind:
        case "changed":
            return "V15" if flaw.turn == latest else "V16"
        case "forged":
            return "V16"
        case "redacted":
            return "V16a"
        case "moved":
            return "V17" if refuses else ""
        case "unreadable":
            return ""


def binds(model_name: str, *, strict: bool) -> bool:
    """Whether the model refuses a moved block; of one we do not know, only `strict` says so."""
    it = model(model_name)
    return it.binds_thinking if it.known else strict


def drops(settings: dict[str, Json]) -> bool:
    """Whether the request asks to have moved blocks dropped."""
    match settings.get("thinking"):
        case {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}:
            return True
    return False


def dropped(bindings: Bindings, settings: dict[str, Json], model_name: str) -> list[Json]:
    """The blocks that are dropped, as the answer reports them to a request that asks for it."""
    match settings.get("thinking"):
        case {"block_binding": {}}:
            pass
        case _:
            return []
    reasons = {"unreadable": "model_binding_mismatch"}
    if drops(settings) and binds(model_name, strict=False):
        reasons["moved"] = "prefix_binding_mismatch"
    return [
        {
            "type": "thinking_dropped",
            "path": f"messages.{flaw.n}.content.{flaw.m}",
            "reason": reasons[flaw.kind],
        }
        for flaw in bindings.flaws
        if flaw.kind in reasons
    ]


def unthinking(messages: Sequence[Message], settings: dict[str, Json]) -> Iterator[Violation]:
    """A tool loop whose assistant turn does not begin with thinking, though that is on (V18)."""
    match settings.get("thinking"):
        case {"type": "enabled"} if messages and messages[-1].tool_results:
            n = _latest_turn(messages)
            first = messages[n].blocks[0] if messages[n].blocks else None
            if first is not None and not isinstance(first, Thinking):
                yield violation("V18", n=n, kind=_KINDS.get(type(first).__name__, "text"))


_KINDS = {"Text": "text", "ToolUse": "tool_use"}
