"""A careful agent: asynchronous, on OpenAI Chat Completions, with its own JSON Lines store.

Play it: `harness run scenarios --profile examples/agents/careful_async.toml`. To copy from:

- `Journal`: what is said is a line of a file before anything relies on it; a restart reads it back.
- `Projection`: each request is built from the rows, and is valid for any rows.
- `Model`: an answer counts once its end has come; each error says whether to try again.
- `Breaker`: refuses the call that repeats without progress.
- `Turn`: one message, from its row to its reply: retries, budgets, a shorter conversation, cancels.
- `CarefulAgent`: takes each message once, takes up what a crash has left, delivers the reply.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import random
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import Brief, Inbound

Row = dict[str, Any]
SYSTEM = "You are a careful assistant. Use the tools where they help, and say what is true."
SUMMARISE = "Summarise the conversation below in a few sentences. Keep names, facts and open tasks."
OVERFLOW = re.compile(
    r"context.{0,8}(length|window|limit)|(prompt|input|request).{0,20}too (long|large)"
    r"|too many (input )?tokens|maximum.{0,20}(context|tokens)|exceeds? the .{0,30}(context|token)",
    re.IGNORECASE,
)
MOST = {"again": 5, "empty": 3, "cut": 2, "overflow": 5}  # tries of one request, by failure
TURN_FAILURES, TURN_REQUESTS, TURN_TOKENS = 10, 40, 500_000
SILENCE_S, TOOL_S, LONGEST_WAIT_S = 120, 600, 120
REPEATS, REFUSALS, INVALID_CALLS, RESULT_CHARS = 3, 3, 6, 40_000
CODED = re.compile(r"\b(?=\w*\d)[\w-]{8,}|\d+[:.T-]\d+\S*")  # ids and times
AGAIN, LEFT_OUT = "(You may have this already.) ", "(Earlier messages are left out.)"


def clean(value: Any) -> Any:
    """The same value in Unicode: halves of a character are joined, or replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return [clean(item) for item in value] if isinstance(value, list) else value


def text_of(content: Any) -> str:
    if isinstance(content, str | dict | int | float):  # `0` and `false` are values too
        return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return "\n".join(b.get("text") or f"[{b.get('type')}]" for b in content or [])


def clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[{len(text) - most} characters left out]"


def shortened(rows: list[Row], most: int) -> list[Row]:
    keys = {"text": "text", "tool_result": "content"}

    def short(block: Row) -> Row:
        key = keys.get(block.get("type", ""))
        return {**block, key: clipped(text_of(block.get(key)), most)} if key else block

    return [{**row, "blocks": [short(block) for block in row["blocks"]]} for row in rows]


def api_name(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name or "unknown")[:64]


def said_by(role: str, text: str, **facts: Any) -> Row:
    return {"role": role, "blocks": [{"type": "text", "text": text}], **facts}


class Journal:
    """Rows of all sessions in one file, marks of messages in another: a synced JSON line each."""

    def __init__(self, folder: Path) -> None:
        self.path, self.marks_path = folder / "session.jsonl", folder / "marks.jsonl"
        if (seed := folder / "seed.jsonl").exists() and not self.path.exists():
            self.replace(
                self.path, [{k: r[k] for k in ("role", "blocks")} for r in self.read(seed)]
            )
        self.rows, self.marks = self.read(self.path), self.read(self.marks_path)

    def read(self, path: Path) -> list[Row]:
        """Every line that is whole; a torn end is closed before more is written."""
        rows, lines = [], path.read_bytes().split(b"\n") if path.exists() else [b""]
        for line in filter(None, lines):
            with suppress(ValueError):
                rows.append(json.loads(line))
        # Not in place: a kill in the repair would take every row.
        return self.replace(path, rows) if lines[-1] else rows

    def write(self, path: Path, rows: list[Row], mode: str = "a") -> None:
        with path.open(mode, encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())

    def append(self, row: Row) -> None:
        self.write(self.path, [row])
        self.rows.append(row)

    def mark(self, what: str, session: str, message: str, **facts: Any) -> None:
        mark = {"mark": what, "session": session, "message": message, **facts}
        self.write(self.marks_path, [mark])
        self.marks.append(mark)

    def marked(self, what: str, session: str, message: str) -> list[Row]:
        wanted = {"mark": what, "session": session, "message": message}.items()
        return [mark for mark in self.marks if wanted <= mark.items()]

    def replace(self, path: Path, rows: list[Row]) -> list[Row]:
        """Put rows in place of all: the file holds the old ones or the new ones."""
        self.write(path.with_suffix(".new"), rows, "w")
        path.with_suffix(".new").replace(path)
        return rows

    def of(self, session: str) -> list[Row]:
        return [row for row in self.rows if row.get("session", "main") == session]


def results_of(rows: list[Row]) -> list[Row]:
    """The results that stand before the assistant's next row."""
    end = next((n for n, row in enumerate(rows) if row["role"] == "assistant"), len(rows))
    return [b for row in rows[:end] for b in row["blocks"] if b.get("type") == "tool_result"]


class Projection:
    """The messages of a request, built from rows and valid for any rows."""

    def __init__(self, rows: list[Row]) -> None:
        self.messages: list[Row] = [{"role": "system", "content": SYSTEM}]
        self.ids: set[str] = set()
        for n, row in enumerate(rows):
            calls = [b for b in row["blocks"] if b.get("type") == "tool_use"]
            text = "\n".join(b["text"] for b in row["blocks"] if b.get("type") == "text")
            if row["role"] == "assistant" and calls:
                self.called(text, calls, results_of(rows[n + 1 :]))
            elif text.strip():
                self.say(row["role"], text)

    def say(self, role: str, text: str | None) -> Row:
        """Add a message; neighbours of one side are kept apart."""
        if self.messages[-1]["role"] == role:
            other = "assistant" if role == "user" else "user"
            self.messages.append({"role": other, "content": "(nothing was said)"})
        self.messages.append({"role": role, "content": clean(text)})
        return self.messages[-1]

    def called(self, text: str, calls: list[Row], results: list[Row]) -> None:
        message = self.say("assistant", text if text.strip() else None)
        message["tool_calls"] = []
        for call in calls:
            result = next((r for r in results if r.get("id") == call.get("id")), None)
            results = [r for r in results if r is not result]
            known = call.get("id")
            own = known if known and known not in self.ids else f"call_{len(self.ids) + 1}"
            self.ids.add(own)
            given = call.get("input") if isinstance(call.get("input"), dict) else {}
            name, arguments = api_name(call.get("name", "")), json.dumps(clean(given))
            function = {"name": name, "arguments": arguments}
            message["tool_calls"].append({"id": own, "type": "function", "function": function})
            told = text_of(result.get("content")) if result else "Error: the outcome is unknown."
            told = clean(told) if told.strip() else "(no output)"
            self.messages.append({"role": "tool", "tool_call_id": own, "content": told})


class Failure(Exception):
    """A request without a usable answer: `kind` is a key of MOST, final or cancelled."""

    def __init__(self, kind: str, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.wait_s = kind, reason, wait_s


@dataclass
class Answer:
    """An answer, as far as it has come."""

    text: str = ""
    refusal: str = ""
    stop: str | None = None
    calls: list[Row] = field(default_factory=list)
    usage: Any = None

    def add(self, choice: Any, piece: Any) -> None:
        self.text += getattr(piece, "content", None) or ""
        self.refusal += getattr(piece, "refusal", None) or ""
        self.stop = choice.finish_reason or self.stop
        for call in getattr(piece, "tool_calls", None) or []:
            at, own = getattr(call, "index", None), call.id or ""
            kept = next((c for c in self.calls[::-1] if at is not None and c["at"] == at), None)
            if kept is None or (own and kept["id"] and own != kept["id"]):
                kept = {"at": at, "id": "", "name": "", "raw": ""}
                self.calls.append(kept)
            kept["id"] = kept["id"] or own
            kept["name"] = kept["name"] or getattr(call.function, "name", "") or ""
            kept["raw"] += getattr(call.function, "arguments", "") or ""

    def judged(self) -> Answer:
        """The answer, if it ended in order. Raises Failure."""
        if self.stop is None:
            raise Failure("again", "the answer broke off")
        if self.stop == "content_filter" or self.refusal:
            raise Failure("final", self.refusal or "the provider stopped the answer")
        if self.text and self.usage and not self.usage.completion_tokens:
            kind = "overflow" if OVERFLOW.search(self.text) else "again"
            raise Failure(kind, f"no answer of the model: {clipped(self.text, 200)}")
        if not self.calls and (not self.text.strip() or self.stop == "tool_calls"):
            raise Failure("empty", "the model said nothing")
        if not self.calls and self.stop != "stop":
            kind = "cut" if self.stop == "length" else "final"
            raise Failure(kind, f"the answer was cut off ({self.stop}): {clipped(self.text, 2000)}")
        self.text = clean(self.text)
        return self


def wait_asked_for(headers: Any) -> float | None:
    """The seconds that an answer asks to wait, said in any way."""
    try:
        if headers.get("retry-after-ms"):
            return float(headers["retry-after-ms"]) / 1000
        said = headers.get("retry-after", "")
        if re.fullmatch(r"[\d.]+", said.strip()):
            return float(said)
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def failure(error: Exception) -> Failure:
    """What an exception of the client means."""
    reason, status = str(error) or type(error).__name__, getattr(error, "status_code", None)
    if isinstance(error, Failure):
        return error
    if status == 413 or (OVERFLOW.search(reason) and status in {None, 400, 422, 500}):
        return Failure("overflow", reason)
    if status is None:  # no answer, or one that broke off
        return Failure("again", reason)
    wait_s = wait_asked_for(headers := error.response.headers)  # type: ignore[attr-defined]
    passing = status >= 500 or status in {408, 409, 429}
    passing &= headers.get("x-should-retry") != "false" and "insufficient_quota" not in reason
    kind = "again" if passing and (wait_s or 0) <= LONGEST_WAIT_S else "final"
    return Failure(kind, reason, wait_s)


class Model:
    """One request and its answer. Retries are the turn's, so the client makes none."""

    def __init__(self, brief: Brief) -> None:
        self.client = brief.async_openai(max_retries=0, timeout=SILENCE_S)
        self.stream = bool(brief.options.get("stream"))

    async def ask(self, messages: list[Row], tools: list[Row], max_tokens: int) -> Answer:
        request: Row = {"model": "any", "messages": messages, "max_tokens": max_tokens}
        request |= {"tools": tools} if tools else {}
        if self.stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        try:
            opened = self.client.chat.completions.create(**request)
            reply = await asyncio.wait_for(opened, SILENCE_S)
            return (await self.told(reply)).judged()
        except Exception as error:  # the client, the network, or unreadable bytes
            raise failure(error) from error

    async def told(self, reply: Any) -> Answer:
        answer = Answer(usage=getattr(reply, "usage", None))
        if not self.stream and getattr(reply, "choices", None):
            answer.add(reply.choices[0], reply.choices[0].message)
        if self.stream:
            async with reply:
                pieces = aiter(reply)
                while piece := await asyncio.wait_for(anext(pieces, None), SILENCE_S):
                    for choice in piece.choices[:1]:
                        answer.add(choice, choice.delta)
                    answer.usage = piece.usage or answer.usage
        return answer


class Breaker:
    """Objects to a call that repeats without progress."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str, str, bool]] = []
        self.since = self.refused = self.invalid = 0

    def note(self, name: str, key: str, result: str, failed: bool) -> None:
        """A call was run; a new success resets the count of failures."""
        if not failed and (name, key, result, failed) not in self.steps:
            self.since = len(self.steps)
        self.steps.append((name, key, CODED.sub("#", result) if failed else result, failed))

    def circles(self, name: str, key: str) -> bool:
        """Whether the last steps went round, and this call is one of the circle."""
        rounds = [self.steps[-n:] for n in range(1, 16) if len(self.steps) >= n * REPEATS]
        whole = [once for once in rounds if once * REPEATS == self.steps[-len(once) * REPEATS :]]
        return any((name, key) == step[:2] for once in whole for step in once)

    def shapes(self, name: str, key: str) -> list[str]:
        """What the last six calls said, without ids, times and a count of the calls."""
        plain = [CODED.sub("#", s[2]) for s in self.steps[-6:] if s[:2] == (name, key)]
        if len(plain) < 6:
            return []
        return [re.sub(r"\d+", lambda m, n=n: str(int(m[0]) - n), s) for n, s in enumerate(plain)]

    def objection(self, name: str, key: str) -> str | None:
        """Why the call is not run, or None."""
        of_tool = [step for step in self.steps[self.since :] if step[0] == name]
        of_call = [step for step in of_tool if step[1] == key]
        if self.circles(name, key):
            return "the same calls brought the same results again and again"
        if len(set(self.shapes(name, key))) == 1:
            return "this call brings nothing new"
        # Another argument may be the remedy.
        tail = [s for s in of_tool if json.loads(s[1]).keys() == json.loads(key).keys()][-REPEATS:]
        if len(tail) == REPEATS and tail[-1][3] and len({step[2:] for step in tail}) == 1:
            return "this tool fails in the same way each time"
        for steps, most in ((of_call, 8), (of_tool, 16)):
            if len(steps) >= most and all(step[3] for step in steps[-most:]):
                return "it fails each time"
        return None


class Turn:
    """One message of the user, from its row to the text of its reply."""

    def __init__(self, agent: CarefulAgent, session: str, message: str) -> None:
        self.agent, self.journal = agent, agent.journal
        self.session, self.message = session, message
        self.breaker, self.failures = Breaker(), Counter[str]()
        self.requests = self.tokens = self.shrinks = 0
        self.max_tokens = 2000

    async def run(self) -> str:
        """The text of the reply. Raises Failure."""
        self.close_calls("Error: the agent was interrupted, and the outcome is unknown.")
        while True:
            answer = await self.ask()
            self.tokens += getattr(answer.usage, "completion_tokens", None) or 0
            if not answer.calls:
                return answer.text
            calls = self.read(answer)
            said = said_by("assistant", answer.text)["blocks"] if answer.text.strip() else []
            self.keep("assistant", *said, *[clean(block) for block, *_ in calls])
            for block, known, problem in calls:
                self.check_cancel()
                await self.carry_out(block, known, problem)
            if self.breaker.refused >= REFUSALS or self.breaker.invalid >= INVALID_CALLS:
                raise Failure("final", "the same steps repeat and bring nothing")

    def keep(self, role: str, *blocks: Row) -> None:
        self.journal.append({"role": role, "blocks": list(blocks), "session": self.session})

    def parted(self) -> tuple[list[Row], list[Row]]:
        rows = self.journal.of(self.session)
        start = next((n for n, row in enumerate(rows) if row.get("id") == self.message), len(rows))
        return rows[:start], rows[start:]

    def close_calls(self, text: str) -> None:
        rows = self.parted()[1]
        for n, row in enumerate(rows):
            done = [block.get("id") for block in results_of(rows[n + 1 :])]
            for block in row["blocks"]:
                if block.get("type") == "tool_use" and block["id"] not in done:
                    self.result(block, text, failed=True)

    def check_cancel(self) -> None:
        if self.agent.brief.cancelled(self.session):
            raise Failure("cancelled", "Stopped, as you asked.")

    async def ask(self) -> Answer:
        """The next answer, after retries and with a shorter conversation where that helps."""
        tries = Counter[str]()
        while True:
            messages = Projection(self.journal.of(self.session)).messages
            try:
                return await self.spend(messages, self.agent.offered, self.max_tokens)
            except Failure as bad:
                tries[bad.kind] += 1
                spent = self.failures.total() >= TURN_FAILURES
                if spent or tries[bad.kind] >= MOST.get(bad.kind, 1):
                    raise
                if bad.kind == "overflow":
                    await self.shrink(bad, len(json.dumps(messages)))
                elif bad.kind == "again":
                    own = 2.0 ** (tries["again"] - 1) * random.uniform(1.0, 1.4)
                    await asyncio.sleep(own if bad.wait_s is None else bad.wait_s + own / 10)
                self.max_tokens *= 4 if bad.kind == "cut" else 1

    async def spend(self, messages: list[Row], tools: list[Row], max_tokens: int) -> Answer:
        self.check_cancel()
        if self.requests >= TURN_REQUESTS or self.tokens > TURN_TOKENS:
            raise Failure("final", "the budget of this turn is spent")
        self.requests += 1
        self.tokens += len(json.dumps(messages)) // 4
        try:
            return await self.agent.model.ask(messages, tools, max_tokens)
        except Failure as bad:
            self.failures[bad.kind] += 1
            raise

    async def shrink(self, bad: Failure, refused: int) -> None:
        """Make the request smaller than what was refused, or give up."""
        if re.search(r"completion|max_tokens", bad.reason) and self.max_tokens > 200:
            self.max_tokens //= 8
            return
        past, now = self.parted()
        while self.shrinks < 4:
            self.shrinks += 1
            if self.shrinks == 1 and past:
                past = await self.summary(past, refused)
            elif self.shrinks > 1:
                past = shortened(past[self.shrinks - 5 :], 200)
                now = shortened(now, 4000 // 8 ** (self.shrinks - 2))
            if len(json.dumps(Projection([*past, *now]).messages)) < refused:
                others = [r for r in self.journal.rows if r.get("session", "main") != self.session]
                self.journal.rows = self.journal.replace(self.journal.path, [*others, *past, *now])
                return
        raise Failure("final", f"the conversation is too long for the model: {bad.reason}")

    async def summary(self, past: list[Row], refused: int) -> list[Row]:
        """Two rows that say what many have said; without a summary, the last few and a note."""
        told = [m for m in Projection(past).messages[1:] if m.get("content")]
        most = int(refused * 0.3)
        share = max(20, most // max(1, len(told)) - 12)
        lines = "\n".join(f"{m['role']}: {clipped(m['content'], share)}" for m in told)
        request = [{"role": "user", "content": f"{SUMMARISE}\n\n{clipped(lines, most)}"}]
        with suppress(Failure):
            answer = await self.spend(request, [], 500)
            if not (answer.calls or OVERFLOW.match(answer.text.strip())):
                asked = said_by("user", "What was said so far?", session=self.session)
                return [asked, said_by("assistant", answer.text, session=self.session)]
        return [said_by("user", LEFT_OUT, session=self.session), *shortened(past[-3:], 1000)]

    def read(self, answer: Answer) -> list[tuple[Row, str, str]]:
        """Calls as a row keeps them, each with the model's id and what is wrong with it."""
        rows, found = self.journal.of(self.session), list[tuple[Row, str, str]]()
        used = {block.get("id") for row in rows for block in row["blocks"]}
        for n, call in enumerate(answer.calls):
            if call["id"] and call in [other | {"at": call["at"]} for other in answer.calls[:n]]:
                continue  # one call that was sent twice
            known = call["id"] if call["id"] not in used else ""
            used.add(known)
            given, problem = self.arguments(call)
            if answer.stop != "tool_calls":
                problem = "the answer was cut off; send less at once"
            own = known or f"own_{len(rows)}_{n}"
            block = {"type": "tool_use", "id": own, "name": call["name"], "input": given}
            found.append((block, known, problem))
        return found

    def arguments(self, call: Row) -> tuple[Row, str]:
        tool = self.agent.tools.get(call["name"])
        try:
            given = json.loads(call["raw"] or "{}")
        except ValueError:
            return {}, "the arguments are not JSON; send them once more"
        if not isinstance(given, dict):
            return {}, "the arguments are not an object"
        if tool is None:
            return given, f"there is no such tool; there are {', '.join(self.agent.tools)}"
        missing = [name for name in tool.input_schema.get("required") or [] if name not in given]
        return given, f"required arguments are missing: {', '.join(missing)}" if missing else ""

    async def carry_out(self, block: Row, known: str, problem: str) -> None:
        name, key = block["name"], json.dumps(block["input"], sort_keys=True)
        if problem:
            self.breaker.invalid += 1
            return self.result(block, f"Error: not run, {problem}.", failed=True)
        if objection := self.breaker.objection(name, key):
            self.breaker.refused += 1
            return self.result(block, f"Error: not run, {objection}.", failed=True)
        text, failed = await self.outcome(block, known)
        self.breaker.note(name, key, text, failed)
        return self.result(block, text, failed=failed)

    async def outcome(self, block: Row, known: str) -> tuple[str, bool]:
        call, given = self.agent.tools[block["name"]].call, block["input"]
        about: Row = {"id": known, "session": self.session, "timeout_s": TOOL_S}
        try:
            return text_of(await asyncio.to_thread(call, given, **about)), False
        except (TimeoutError, ConnectionError) as error:
            return f"Error: the outcome is unknown, it may have happened: {error}", True
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # a tool is others' code
            return f"Error: {''.join(traceback.format_exception_only(error))}", True

    def result(self, block: Row, text: str, *, failed: bool) -> None:
        said = clipped(clean(text), RESULT_CHARS)
        told = {"type": "tool_result", "id": block["id"], "content": said, "is_error": failed}
        self.keep("user", told)


def offer(name: str, tool: Any) -> Row:
    about = {"description": clean(tool.description), "parameters": clean(tool.input_schema)}
    return {"type": "function", "function": {"name": name, **about}}


class CarefulAgent:
    """Takes each message once, and tells the user how it ended."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self.model, self.journal = brief, Model(brief), Journal(Path(brief.session_dir))
        self.tools: dict[str, Any] = {}
        for tool in brief.tools:
            name = api_name(tool.name)
            self.tools[name if name not in self.tools else f"{name[:60]}_{len(self.tools)}"] = tool
        self.offered = [offer(name, tool) for name, tool in self.tools.items()]

    async def run(self) -> None:
        for row in [row for row in self.journal.rows if row.get("id")]:
            if not self.journal.marked("delivered", row["session"], row["id"]):
                await self.work(row["session"], row["id"])
        for inbound in self.inbox():
            await self.take(inbound)

    def inbox(self) -> Iterator[Inbound]:
        failures = 0
        while failures < 10:
            try:
                for inbound in self.brief.inbox():
                    failures = 0
                    yield inbound
                return
            except (ConnectionError, TimeoutError, RuntimeError):
                time.sleep(min(30, 2 ** (failures := failures + 1)))

    async def take(self, inbound: Inbound) -> None:
        """A process may end between the row and its mark, and a summary takes the row away."""
        text, session = clean(inbound.text), inbound.session
        kept = any(row.get("id") == inbound.id for row in self.journal.of(session))
        if not text.strip() and not self.journal.marked("delivered", session, inbound.id):
            await self.deliver(session, inbound.id, "The message was empty.", "error", None)
        elif text.strip() and not (kept or self.journal.marked("taken", session, inbound.id)):
            self.journal.append(said_by("user", text, id=inbound.id, session=session))
            self.journal.mark("taken", session, inbound.id)
            await self.work(session, inbound.id)

    async def work(self, session: str, message: str) -> None:
        if reply := self.journal.marked("replied", session, message):
            return await self.deliver(session, message, *reply[-1]["reply"])
        turn = Turn(self, session, message)
        text, kind, status = await self.ended(turn)
        turn.close_calls("Error: not run, the turn has ended.")
        self.journal.append(said_by("assistant", text, session=session))
        self.journal.mark("replied", session, message, reply=[text, kind, status])
        return await self.deliver(session, message, text, kind, status)

    async def ended(self, turn: Turn) -> tuple[str, str, str | None]:
        self.journal.mark("begun", turn.session, turn.message)
        if len(self.journal.marked("begun", turn.session, turn.message)) > 2:
            return "I was interrupted twice at this message, and leave it.", "error", None
        try:
            text = await turn.run()
            turn.check_cancel()
        except Failure as bad:
            if bad.kind == "cancelled":
                return bad.reason, "final", "cancelled"
            return f"I could not finish this: {clean(bad.reason)}", "error", None
        return text, "final", None

    async def deliver(self, session: str, message: str, text: str, kind: str, status: Any) -> None:
        """Send a reply until the outbox has it; say so where it may be there already."""
        said = AGAIN + text if self.journal.marked("sending", session, message) else text
        self.journal.mark("sending", session, message)
        for attempt in range(6):
            try:
                self.brief.send(said, kind, session=session, in_reply_to=message, status=status)
                return self.journal.mark("delivered", session, message)
            except (ConnectionError, TimeoutError, RuntimeError):
                said = AGAIN + text
                await asyncio.sleep(2.0**attempt)
        return None


async def agent(brief: Brief) -> None:
    """Answer every message, and take up what an earlier life has left."""
    await CarefulAgent(brief).run()
