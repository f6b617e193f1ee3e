"""A careful agent: sync, on the Anthropic SDK, with plain lists and dicts.

A conversation is a list of rows, `{"role": ..., "content": [blocks]}`, in memory and in a store.
What has no state stands in `anthropic_rows.py`. Take the parts that you lack:

- `ask`: one budget for all retries of a turn, with growing pauses.
- `run_calls`: each call has a result, after any failure.
- `shrink`: a summary when the conversation is too long, then shorter texts.
- `keep`, `send`, `resume`: a store that fails, an outbox that fails, a restart.
"""

from __future__ import annotations

import copy
import json
import random
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import anthropic
import httpx2

from examples.agents.anthropic_rows import (
    RESULT_CHARS,
    UNKNOWN,
    Breaker,
    Passing,
    Row,
    TooLong,
    TurnFailed,
    accepted_name,
    calls_of,
    clean,
    clip,
    failure,
    is_refusal,
    once_each,
    read_stream,
    read_whole,
    readable,
    result,
    row_of,
    said,
    spoken,
    stored,
    text_of,
    valid_messages,
    words_of,
)
from harness import Brief, ToolError

SYSTEM = "You are a careful assistant. Say so when something did not work."
SUMMARISE = "Summarise the conversation below. Keep names, numbers, decisions and open work.\n\n"
MAYBE = "(You may have read this already.) "
# The most attempts of a request, and the most failures and requests of a turn.
ATTEMPTS, TURN_FAILURES, REQUESTS = 4, 9, 45
# The longest pause before a retry, silence in an answer, run of a tool, and turn.
LONGEST_PAUSE_S, ANSWER_S, TOOL_S, TURN_S = 120, 120, 900, 6 * 3600
TURN_TOKENS = 2_000_000


class Cancelled(Exception):
    """The user has cancelled the turn."""


class NotKept(Exception):
    """The store refused a write for good."""


# The agent


class CarefulAgent:
    """Works on one message at a time; `begin_turn` resets the counters of a turn."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self.client = brief, brief.anthropic(max_retries=0, timeout=60)
        self.tools: dict[str, Any] = {}
        for tool in brief.tools:
            self.tools[accepted_name(tool.name, self.tools)] = tool
        self.taken: set[tuple[str, str]] = set()
        self.rows: dict[str, list[Row]] = {}
        self.limit: dict[str, int] = {}

    def run(self) -> None:
        """Finish what an earlier life began, then answer each message."""
        self.resume()
        for inbound in self.inbox():
            self.resume(unanswered=False)
            if not inbound.text.strip():
                self.say(inbound, "Your message has no text that I can read.", "error", "failed")
            elif self.take(inbound):
                self.turn(inbound)

    def inbox(self) -> Iterator[Any]:
        """The messages, also of an inbox that fails at times."""
        failures, messages = 0, self.brief.inbox()
        while True:
            try:
                message = next(messages)
            except StopIteration:
                return
            except (OSError, RuntimeError):
                failures += 1
                if failures > 5:
                    raise
                time.sleep(2**failures)
                messages = self.brief.inbox()
                continue
            failures = 0
            yield message

    # A turn

    def turn(self, inbound: Any) -> None:
        """Work on a message that is stored, and tell how it ended."""
        self.begin_turn(inbound)
        try:
            ending = (self.work(), "final", "completed")
        except Cancelled:
            ending = ("Stopped, as you asked.", "final", "cancelled")
        except TurnFailed as error:
            ending = (clean(str(error)), "error", "failed")
        self.finish(inbound, *ending)

    def begin_turn(self, inbound: Any) -> None:
        """Load the conversation; all counts of a turn start here."""
        self.session, self.began = inbound.session, time.monotonic()
        self.failures = self.tokens = 0
        self.again: Counter[str] = Counter()  # odd answers by their reason, see `count`
        # `room` is the `max_tokens` of an answer; `shrunk` counts requests that were too long.
        self.room, self.breaker, self.shrunk = 4000, Breaker(), 0
        rows = self.load(inbound.session)
        mine = [n for n, row in enumerate(rows) if row.get("inbound") == inbound.id]
        self.first = mine[0] if mine else max(0, len(rows) - 1)  # where the rows of this turn begin

    def work(self) -> str:
        """Ask the model and run its calls until it answers in words."""
        for _ in range(REQUESTS):
            answer = self.ask_fitting()
            content, stop = answer["content"], answer["stop_reason"]
            calls, text = calls_of(content), text_of(content).strip()
            if calls and stop in ("tool_use", "end_turn", "stop_sequence"):
                self.run_calls(content)
            elif stop in ("end_turn", "stop_sequence") and text:
                return clean(text)
            elif stop == "pause_turn":
                self.count("The model paused and did not go on.", 6)
                self.append({"role": "assistant", "content": content})
            else:
                self.odd_ending(stop, text)
        raise TurnFailed(f"I stopped after {REQUESTS} requests; the task is not finished.")

    def odd_ending(self, stop: str, text: str) -> None:
        """An answer without content: another try, or the end of the turn."""
        if stop == "refusal":
            raise TurnFailed(f"The model declined to answer. {text}")
        if stop == "max_tokens":
            self.room *= 2
            self.count(f"The answer was cut off at its limit. It began: {text}", 1)
        else:
            self.count("The model gave no usable answer.", 2)

    def count(self, reason: str, most: int) -> None:
        """Count an event of the turn; end it when there are too many."""
        key = reason[:30]
        self.again[key] += 1
        if self.again[key] > most:
            raise TurnFailed(reason)

    # The model

    def ask_fitting(self) -> Row:
        """Ask; when the conversation is too long, make it smaller and ask again."""
        while True:
            request = self.request()
            try:
                answer = self.ask(request)
            except TooLong as error:
                self.shrink(len(json.dumps(request["messages"])), str(error))
                continue
            if answer["stop_reason"] == "model_context_window_exceeded" or is_refusal(answer):
                self.shrink(len(json.dumps(request["messages"])), text_of(answer["content"]))
                continue
            self.shrunk = 0
            return answer

    def request(self) -> Row:
        """The request for the conversation as it is."""
        limit = self.limit.get(self.session, RESULT_CHARS)
        request: Row = {
            "model": "claude-sonnet-5",
            "max_tokens": self.room,
            "system": SYSTEM,
            "messages": valid_messages(self.rows[self.session], limit),
        }
        if self.tools:
            request["tools"] = [
                {"name": name, "description": t.description, "input_schema": t.input_schema}
                for name, t in self.tools.items()
            ]
        return request

    def ask(self, request: Row) -> Row:
        """Ask until there is a whole answer, with growing pauses and within the budgets."""
        for attempt in range(1, ATTEMPTS + 1):
            self.check_budget()
            try:
                answer = self.ask_once(request)
            except Passing as error:
                self.failures += 1
                spent = attempt == ATTEMPTS or self.failures >= TURN_FAILURES
                if spent or error.pause_s > LONGEST_PAUSE_S:
                    raise TurnFailed(f"The model could not be reached: {error}.") from error
                time.sleep(max(error.pause_s, 2 ** (attempt - 1) * random.uniform(1, 1.2)))
            else:
                usage = answer.get("usage") or {}
                self.tokens += sum(int(usage.get(f"{k}_tokens") or 0) for k in ("input", "output"))
                return answer
        raise AssertionError("the last attempt returns or raises")

    def check_budget(self) -> None:
        """Stop a turn that is cancelled, or that has cost too much."""
        if self.brief.cancelled(self.session):
            raise Cancelled
        if self.tokens > TURN_TOKENS or time.monotonic() - self.began > TURN_S:
            raise TurnFailed("I stopped: the budget of this turn is spent.")

    def ask_once(self, request: Row) -> Row:
        """One request. Raises `Passing` for a retry, `TooLong`, or `TurnFailed` for the end."""
        stream = bool(self.brief.options.get("stream"))
        create = self.client.messages.with_streaming_response.create
        try:
            with create(**request, stream=stream) as response:
                self.heard()
                pieces = self.in_time(response.iter_bytes())
                return read_stream(pieces, self.heard) if stream else read_whole(pieces)
        except anthropic.APIStatusError as error:
            raise failure(error.status_code, str(error), error.response.headers) from error
        except (anthropic.APIError, httpx2.HTTPError) as error:
            raise Passing(str(error) or type(error).__name__) from error

    def heard(self) -> None:
        """Note that the answer says something."""
        self.last_word = time.monotonic()

    def in_time(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces of an answer, unless it says nothing for too long or is cancelled."""
        for piece in pieces:
            if self.brief.cancelled(self.session):
                raise Cancelled
            if time.monotonic() - self.last_word > ANSWER_S:
                raise Passing("the answer stopped")
            yield piece

    # A conversation that is too long

    def shrink(self, size: int, reason: str) -> None:
        """Make the next request smaller: a lower reply, a summary of the past, shorter texts."""
        self.shrunk += 1
        # Too large an answer was asked for: the conversation itself may fit.
        if "max_tokens" in reason and self.room > 500:
            self.room //= 8
            return
        if self.shrunk <= 4:
            self.summarise(size, reason)
            # A request that is hardly smaller would be refused again.
            if self.size() <= size * 0.8 or self.shorten(size):
                return
        raise TurnFailed("This conversation is too long for the model, and I cannot shorten it.")

    def size(self) -> int:
        """The size of the next request's messages."""
        return len(json.dumps(self.request()["messages"]))

    def shorten(self, size: int) -> bool:
        """Clip long texts until the request is smaller; whether that helped."""
        while self.limit.get(self.session, RESULT_CHARS) > 60 and self.size() > size * 0.7:
            self.limit[self.session] = self.limit.get(self.session, RESULT_CHARS) // 2
        return self.size() < size * 0.9

    def summarise(self, size: int, reason: str) -> None:
        """Put a summary in place of all that stands before this turn, once a turn."""
        past = "\n".join(spoken(row) for row in self.rows[self.session][: self.first])
        if self.again["summary"] or len(past) < 100:
            return
        self.again["summary"] += 1
        window = re.search(r"> (\d+)", reason)
        most = min(size // 2, int(window[1]) * 2 if window else size)
        text = self.summary(clip(past, most)) or clip(past, size // 5)
        summary = said("user", f"(Summary of what was said before.) {text}")
        self.rows[self.session][: self.first] = [summary]
        self.first = 1
        row = self.rows[self.session][1].get("id")
        if row:
            self.keep("summarise", self.session, stored(summary), row)

    def summary(self, past: str) -> str:
        """The model's summary, or nothing if it gave none."""
        request = {"model": "claude-sonnet-5", "max_tokens": 1000, "system": SYSTEM}
        messages = [said("user", SUMMARISE + past)]
        try:
            answer = self.ask_once({**request, "messages": messages})
        except (Passing, TooLong, TurnFailed):
            return ""
        text = text_of(answer["content"]).strip()
        whole = answer["stop_reason"] == "end_turn" and not is_refusal(answer)
        return text if whole and len(text) < len(past) else ""

    # Tools

    def run_calls(self, content: list[Row]) -> None:
        """Store the calls, run each, and store all results."""
        used = {c["id"] for row in self.rows[self.session] for c in calls_of(row["content"])}
        asked = once_each(content)
        for call in calls_of(asked):
            call["asked_id"] = call["id"]
            if not call["id"] or call["id"] in used:
                call["id"] = f"own_{random.getrandbits(64):x}"
            used.add(call["id"])
        self.append({"role": "assistant", "content": asked})
        results: list[Row] = []
        try:
            for call in calls_of(asked):
                self.check_budget()
                results.append(self.run_call(call))
        finally:
            open_calls = calls_of(asked)[len(results) :]
            results += [result(call["id"], "Not run: the turn ended.", True) for call in open_calls]
            self.append({"role": "user", "content": results})
        self.breaker.end_round()
        if self.breaker.refused >= 3:
            raise TurnFailed("I stopped: the same steps came again and again and brought nothing.")

    def run_call(self, call: Row) -> Row:
        """Run a call, unless it cannot succeed or repeats itself."""
        wrong = self.invalid(call) or self.breaker.stuck(call)
        if wrong:
            self.breaker.refused += 1
            return result(call["id"], f"This call was not run: {wrong}.", True)
        content, failed = self.outcome(call)
        text = content if isinstance(content, str) else json.dumps(content)
        self.breaker.note(call, text, failed)
        self.breaker.refused = 0
        return result(call["id"], content, failed)

    def invalid(self, call: Row) -> str:
        """Why no tool can run this call."""
        if call["name"] not in self.tools:
            return f"no tool has the name {call['name']}; there are {', '.join(self.tools)}"
        if not isinstance(call["input"], dict):
            return "its input is not a JSON object"
        needed = self.tools[call["name"]].input_schema.get("required", [])
        missing = [name for name in needed if name not in call["input"]]
        return f"its input lacks {', '.join(missing)}" if missing else ""

    def outcome(self, call: Row) -> tuple[str | list[Row], bool]:
        """What the tool answered, and whether it failed."""
        try:
            tool = self.tools[call["name"]]
            given = copy.deepcopy(call["input"])  # a tool may change what it is given
            answer = tool.call(given, id=call["asked_id"], session=self.session, timeout_s=TOOL_S)
        except ToolError as error:
            return words_of(error), True
        except TimeoutError:
            return "The tool timed out. Whether it did its work is unknown.", True
        except (Exception, SystemExit) as error:
            return f"The tool failed: {type(error).__name__}: {words_of(error)}", True
        return readable(answer), False

    # The store

    def keep(self, write: str, *values: Any) -> Any:
        """Call the store, a few times if it fails; `NotKept` if it fails for good."""
        for pause in (0.2, 1, 3, 6, None):
            try:
                return getattr(self.brief.store, write)(*values)
            except (sqlite3.Error, OSError, RuntimeError) as error:
                if pause is None:
                    raise NotKept(str(error)) from error
                time.sleep(pause)
        return None

    def take(self, inbound: Any) -> bool:
        """Store a message before it is worked on; False if there is nothing to do for it."""
        key, row = (inbound.session, inbound.id), said("user", inbound.text)
        new = key not in self.taken
        self.taken.add(key)
        try:
            if self.keep("accept", inbound, stored(row)):
                return True
            waiting = [turn.inbound.id for turn in self.keep("pending") if turn.reply is None]
            if new and inbound.id in waiting:
                self.say(inbound, "Another process works on this message.", "error", "failed")
        except NotKept as error:
            self.say(inbound, f"I could not store your message: {error}", "error", "failed")
        return False

    def append(self, row: Row) -> None:
        """Store a row and add it to the conversation; a turn that cannot be stored fails."""
        try:
            row["id"] = self.keep("append", self.session, stored(row))
        except NotKept as error:
            raise TurnFailed(f"I could not store this conversation: {error}") from error
        self.rows[self.session].append(row)

    def load(self, session: str) -> list[Row]:
        """The stored conversation, or that in memory when the store cannot be read."""
        try:
            self.rows[session] = [row_of(row) for row in self.keep("load", session)]
        except NotKept:
            self.rows.setdefault(session, [])
        return self.rows[session]

    # The user

    def finish(self, inbound: Any, text: str, kind: str, status: str) -> None:
        """Store the reply, then deliver it."""
        try:
            self.keep("reply", inbound, stored(said("assistant", text)), status, kind)
        except NotKept as error:
            text, kind, status = f"{text} (This could not be stored: {error})", "error", "failed"
        self.deliver(inbound, text, kind, status)

    def deliver(self, inbound: Any, text: str, kind: str, status: str) -> None:
        """Send a reply; one that cannot be sent stays pending in the store."""
        if self.say(inbound, text, kind, status):
            try:
                self.keep("delivered", inbound)
            except NotKept:
                return

    def say(self, inbound: Any, text: str, kind: str, status: str) -> bool:
        """Send with a few tries; whether it arrived."""
        return self.send(text, kind, inbound.session, in_reply_to=inbound.id, status=status)

    def send(self, text: str, kind: Any, session: str, **about: Any) -> bool:
        """Send with a few tries; after a time-out the text says that it may be a repetition."""
        for pause in (1, 10, 60, 240, None):
            try:
                self.brief.send(text, kind=kind, session=session, **about)
                return True
            except (OSError, RuntimeError) as error:
                if isinstance(error, TimeoutError) and not text.startswith(MAYBE):
                    text = MAYBE + text
            if pause:
                time.sleep(pause)
        return False

    def resume(self, unanswered: bool = True) -> None:
        """Deliver replies that are stored and not sent; after a start, finish interrupted turns."""
        try:
            pending = list(self.keep("pending"))
        except NotKept:
            return
        for turn in pending:
            if turn.reply is not None:
                again = turn.reply if turn.reply.startswith(MAYBE) else MAYBE + turn.reply
                self.deliver(turn.inbound, again, turn.kind, turn.status)
            elif unanswered:
                self.take_up(turn)

    def take_up(self, turn: Any) -> None:
        """Go on with a turn that was interrupted, once."""
        try:
            attempts = self.keep("begin", turn.inbound)
        except NotKept:
            attempts = turn.attempts + 1
        self.begin_turn(turn.inbound)
        rows = self.rows[turn.inbound.session]
        self.taken.add((turn.inbound.session, turn.inbound.id))
        if not rows:  # the store has lost the session, and the turn is all that is known of it
            self.append(said("user", turn.inbound.text))
        open_calls = calls_of(rows[-1]["content"])
        if open_calls:
            self.append(
                {"role": "user", "content": [result(c["id"], UNKNOWN, True) for c in open_calls]}
            )
        if attempts > 2:
            self.finish(turn.inbound, "I was interrupted twice and stopped.", "error", "failed")
        else:
            self.turn(turn.inbound)


def agent(brief: Brief) -> None:
    """Answer every message of the inbox."""
    CarefulAgent(brief).run()
