"""A careful agent on the Responses API that ends its turns by a tool, `final_answer`.

Parts to take into your agent: `to_items` makes a valid request from any stored rows; `Model` is the
one layer that tries again, and believes only whole answers; `Breaker` stops calls that bring
nothing new; `Journal` writes later what a store refuses; `Agent.work` is a turn.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from openai.types.responses import Response

from harness import Brief, Message, ToolResult, ToolUse, assistant, user

INSTRUCTIONS = "You are a careful assistant. Give your answer by final_answer, or in words."
SUMMARISE = "Summarise the conversation below. Keep names, wishes, rules and open work."
LAST_WORDS = "(The tools are switched off. Tell the user what is done and what is not.)"
FINAL, ENDS = "final_answer", "Give the user the final answer and end the turn."
ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
CUT, EMPTY = "The answer was cut off:", "The model said nothing."
DECLINED = "The model declines to answer."
SUMMARY = "(What was said before: "
SAY_SOMETHING = "(Your answer was empty. Please answer in words.)"
NOT_RUN = "The tool failed: it was not run,"
UNKNOWN = "The tool failed: it was interrupted, its outcome is unknown. Check before you repeat."
USELESS = f"{NOT_RUN} for this brought nothing new before."
AGAIN = "(This may have reached you already.) "
OVERFLOW = re.compile(
    r"(?i)(prompt|input) is too long|context.{0,8}(length|window|limit)|too large"
)
NO_MONEY = re.compile(r"(?i)insufficient_quota|spend|billing|credit|usage limit")
TERMINAL = ("response.completed", "response.incomplete", "response.failed")
CODED = re.compile(r"\b(?=\w*\d)[\w-]{8,}|\d+[:.T-]\d+\S*")  # ids and times
TRIES, SUMMARY_TRIES, TURN_FAILURES, REQUESTS, TURN_TOKENS = 4, 2, 8, 40, 5_000_000
LONGEST_PAUSE_S, SILENCE_S, TOOL_S = 60, 100, 900
RESULT_CHARS = 60_000


class TooLong(Exception):
    """The conversation does not fit the model's window."""


class GiveUp(Exception):
    """The turn ends here: the text for the user, and the status."""


def clean(value: Any) -> str:
    return str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole(arguments: str) -> str:
    """The arguments of a call without half a character, which some servers cannot render."""
    with suppress(ValueError):
        text = json.dumps(json.loads(arguments), ensure_ascii=False)
        arguments = arguments if text == clean(text) else text
    return clean(arguments)


def free_name(name: str, taken: Container[str] = ()) -> str:
    free = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:60] or "unknown"
    while free in taken:
        free += "_"
    return free


def to_items(rows: list[Message], clip: int = RESULT_CHARS) -> list[dict[str, Any]]:
    """The input of a request. Each call has its own name and one output right after it."""
    items: list[dict[str, Any]] = []
    seen: set[str] = set()
    for position, row in enumerate(rows):
        if clean(row.text).strip():
            role = "assistant" if row.role == "assistant" else "user"
            items.append({"role": role, "content": clean(row.text)})
        if row.role == "assistant" and row.tool_uses:
            items += paired(row, rows[position + 1 :], seen, clip)
    return items


def paired(row: Message, later: list[Message], seen: set[str], clip: int) -> list[dict[str, Any]]:
    speech = next((n for n, other in enumerate(later) if other.role == "assistant"), len(later))
    answers = [result for other in later[:speech] for result in other.tool_results]
    calls, outputs = [], []
    for use in row.tool_uses:
        id = free_name(use.id or "call", seen)
        seen.add(id)
        answer = next((found for found in answers if found.id == use.id), None)
        answers = [found for found in answers if found is not answer]
        text = UNKNOWN if answer is None else clean(answer.text) or "(no output)"
        text = text if len(text) <= clip else f"{text[:clip]}\n(cut, {len(text)} characters)"
        given = use.input if isinstance(use.input, str) else json.dumps(use.input or {})
        call = {"type": "function_call", "call_id": id, "name": free_name(use.name)}
        calls.append(call | {"arguments": clean(given)})
        outputs.append({"type": "function_call_output", "call_id": id, "output": text})
    return calls + outputs


class Answer(NamedTuple):
    text: str
    calls: list[ToolUse]
    problem: str


def read_answer(response: Response) -> Answer:
    if response.status == "failed" or response.error:
        raise ValueError(response.error.message if response.error else "the response failed")
    texts, calls, refused = [], [], False
    for item in response.output or []:
        if item.type == "function_call":
            calls.append(ToolUse(item.call_id or "", item.name, whole(item.arguments)))
        elif item.type == "message":
            texts += [part.text for part in item.content if part.type == "output_text"]
            refused = refused or any(part.type == "refusal" for part in item.content)
    if [use.name for use in calls] == [FINAL] and (said := final_text(calls[0].input)):
        texts, calls = [said], []
    text = clean("\n".join(part for part in texts if part))
    reason = str(response.incomplete_details and response.incomplete_details.reason)
    uncounted = not calls and response.usage is not None and not response.usage.output_tokens
    if "context" in reason or (uncounted and OVERFLOW.search(text)):
        raise TooLong(reason)
    problem = "The provider says in place of an answer:" if uncounted else ""
    problem = problem if calls or text.strip() else EMPTY
    problem = problem if response.status == "completed" else CUT
    problem = DECLINED if refused or reason == "content_filter" else problem
    return Answer(text, calls, problem)


def final_text(arguments: str) -> str:
    try:
        return clean(json.loads(arguments)["answer"]).strip()
    except (ValueError, KeyError, TypeError):
        return ""


class Model:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.client = brief.openai(max_retries=0, timeout=SILENCE_S)
        self.stream = bool(brief.options.get("stream"))
        self.failures = self.tokens = 0

    def ask(
        self,
        items: list[Any],
        tools: list[Any],
        most: int,
        look: Callable[[], Any],
        tries: int = TRIES,
    ) -> Answer:
        """A whole answer, after a few tries; `look` raises when the user cancels."""
        body: dict[str, Any] = {"model": "gpt-5", "input": items, "store": False}
        body |= {"instructions": INSTRUCTIONS, "max_output_tokens": most}
        body |= {"tools": tools} if tools else {}
        for attempt in range(1, tries + 1):
            look()
            try:
                response = self.fetch(body)
                answer = read_answer(response)
                self.tokens += response.usage.total_tokens if response.usage else 0
                return answer
            except (TooLong, GiveUp):
                raise
            except Exception as error:
                self.brief.clock.sleep(self.pause(error, attempt, tries))
        raise GiveUp("The model cannot be reached.")

    def fetch(self, body: dict[str, Any]) -> Response:
        answer = self.client.responses.create(**body, stream=self.stream)
        if not self.stream and isinstance(answer, Response):
            return answer
        with answer as events:
            for event in events:
                if event.type in TERMINAL:
                    return event.response
                if event.type == "error":  # the SDK hands it out as any other event
                    raise ValueError(event.message)
        raise ValueError("the answer is not a response, or ended early")

    def pause(self, error: Exception, attempt: int, tries: int) -> float:
        status = getattr(error, "status_code", None)
        if status == 413 or (status in (None, 400, 422) and OVERFLOW.search(str(error))):
            raise TooLong(str(error)) from error
        final = status is not None and status < 500 and status not in (408, 409, 429)
        headers = getattr(getattr(error, "response", None), "headers", {})
        asked = headers.get("retry-after", "")
        wait = float(asked) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", asked) else 0.0
        self.failures += 1
        if final or wait > LONGEST_PAUSE_S or NO_MONEY.search(str(error)):
            raise GiveUp(f"The model refused the request: {clean(error)[:300]}") from error
        if attempt >= tries or self.failures >= TURN_FAILURES:
            raise GiveUp(f"The model failed {attempt} times: {clean(error)[:300]}") from error
        return max(wait, 2.0 ** (attempt - 1) * random.uniform(1, 1.3))


def run_tool(tool: Any, use: ToolUse, session: str) -> tuple[str, bool]:
    try:
        given = json.loads(use.input or "{}")
        missing = {*tool.input_schema.get("required", ())} - {*dict(given)}
    except (ValueError, TypeError):
        return f"{NOT_RUN} its arguments are not a JSON object.", True
    if missing or not isinstance(given, dict):
        return f"{NOT_RUN} without {sorted(missing) or 'an object'}.", True
    try:
        return as_text(tool.call(given, id=use.id, session=session, timeout_s=TOOL_S)), False
    except (TimeoutError, ConnectionError) as error:
        return f"{UNKNOWN} ({type(error).__name__}: {clean(error)})", True
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        words = "".join(part for part in error.args if isinstance(part, str))
        return f"The tool failed: {type(error).__name__}: {clean(words)}", True


def as_text(content: Any) -> str:
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    if content is None or isinstance(content, (str, dict, int, float)):  # `0` and `{}` are values
        return clean("" if content is None else content)[:RESULT_CHARS]
    parts = [
        part.get("text", f"[{part.get('type')}]") if isinstance(part, dict) else part
        for part in islice(content, 999)
    ]
    return clean("\n".join(map(str, parts)))[:RESULT_CHARS]


Step = tuple[str, str, str, bool]  # tool, arguments, result, and whether it failed


def in_order(arguments: str) -> str:
    with suppress(ValueError):
        return json.dumps(json.loads(arguments), sort_keys=True)
    return arguments


def names(arguments: str) -> list[str]:
    return re.findall(r'"(\w+)":', arguments)


class Breaker:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.new = 0  # the step after the last success that brought something new

    def refuses(self, use: ToolUse) -> bool:
        key = (use.name, in_order(use.input))
        own = [step for step in self.steps if step[:2] == key]
        tool = [step for step in self.steps if step[0] == use.name]
        row = [step for step in self.steps[self.new :] if step[0] == use.name][-3:]
        alike = {re.sub(r"\d", "0", step[2]) for step in own[-12:]}
        if any(len(s) >= n and all(x[3] for x in s[-n:]) for s, n in ((own, 8), (tool, 16))):
            return True
        if any(key == step[:2] for step in circle(self.steps)) or (
            len(own) > 11 and len(alike) < 2
        ):
            return True
        if sum(step[2].startswith(NOT_RUN) for step in own) > 2:
            return True
        same = len(row) == 3 and len({step[2:] for step in row}) == 1 and row[0][3]
        return same and names(row[-1][1]) == names(key[1])  # another argument may be the remedy

    def note(self, use: ToolUse, text: str, failed: bool) -> None:
        text = CODED.sub("#", text) if failed else text
        step = (use.name, in_order(use.input), text, failed)
        fresh = not failed and step not in self.steps
        self.steps.append(step)
        self.new = len(self.steps) if fresh else self.new


def circle(seen: list[Any]) -> list[Any]:
    for period in range(1, 16):
        last = seen[-3 * period :]
        if len(last) == 3 * period and last == last[:period] * 3:
            return last[:period]
    return []


class Journal:
    def __init__(self, brief: Brief) -> None:
        self.store, self.sleep = brief.store, brief.clock.sleep
        self.waiting: list[tuple[Callable[[], Any], str, Message | None]] = []
        self.refused = False

    def tried(self, action: Callable[[], Any]) -> Any:
        for pause in (0.2, 0.5, 1.2):
            with suppress(Exception):
                return action()
            self.sleep(pause)
        return action()

    def write(
        self, action: Callable[[], Any], again: bool = False, session: str = "", row: Any = None
    ) -> bool:
        self.waiting.append((action, session, row))
        return self.flush() if again or not self.refused else False

    def unstored(self, session: str) -> list[Message]:
        return [row for _, of, row in self.waiting if row and of == session]

    def flush(self) -> bool:
        while self.waiting:
            try:
                self.tried(self.waiting[0][0])
            except Exception:
                self.refused = True
                return False
            self.waiting.pop(0)
        return True

    def summarise(self, inbound: Any, summary: Message, kept: int) -> None:
        rows = self.store.rows(inbound.session)
        at = next(index for index, row in enumerate(rows) if row.inbound == inbound.id)
        self.store.summarise(inbound.session, summary, rows[at - kept].id)


@dataclass
class Turn:
    inbound: Any
    rows: list[Message]
    start: int
    breaker: Breaker = field(default_factory=Breaker)
    clip: int = RESULT_CHARS
    most: int = 4_000
    may_compact: bool = True
    refusals: int = 0


class Agent:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.model = Model(brief)
        self.journal = Journal(brief)
        self.tools: dict[str, Any] = {}
        for tool in brief.tools:
            self.tools[free_name(tool.name, self.tools)] = tool
        offers = [(FINAL, ENDS, ANSWER)] if FINAL not in self.tools else []
        offers += [(name, tool.description, tool.input_schema) for name, tool in self.tools.items()]
        self.offered = [
            {"type": "function", "name": name, "description": words, "strict": False}
            | {"parameters": schema or {"type": "object"}}
            for name, words, schema in offers
        ]
        self.undelivered = False

    def run(self) -> None:
        self.take_up()
        for inbound in self.messages():
            if self.undelivered:
                self.take_up()
            self.journal.refused = False
            self.journal.flush()
            self.receive(inbound)

    def messages(self) -> Iterator[Any]:
        for pause in (2, 4, 8, 16, 0):
            try:
                yield from self.brief.inbox()
                return
            except (TimeoutError, ConnectionError, RuntimeError):
                self.brief.clock.sleep(pause)

    def take_up(self) -> None:
        self.undelivered = False
        try:
            open_turns = list(self.journal.tried(self.journal.store.pending))
        except Exception:
            return
        for item in open_turns:
            if item.reply is not None:
                self.tell(item.inbound, AGAIN + item.reply, item.kind or "final", item.status, True)
            elif item.attempts > 1:
                self.close(item.inbound, "I was interrupted twice. Please ask again.", "failed")
            else:
                self.journal.write(lambda item=item: self.journal.store.begin(item.inbound))
                self.work(item.inbound)

    def receive(self, inbound: Any) -> None:
        if not inbound.text.strip():
            self.tell(inbound, "Your message has no text.", "final", "failed")
            return
        message = user(clean(inbound.text))
        try:
            if not self.journal.tried(lambda: self.journal.store.accept(inbound, message)):
                return
        except Exception:
            self.tell(inbound, "I could not store your message. Send it again.", "error", None)
            return
        self.work(inbound)

    def work(self, inbound: Any) -> None:
        self.model.failures = self.model.tokens = 0
        try:
            turn = self.open_turn(inbound)
            text, status = self.answer(turn)
        except GiveUp as error:
            text, status = (*error.args, "failed")[:2]
        except TooLong:
            text, status = "The conversation is too long for the model, even shortened.", "failed"
        self.close(inbound, text, status)

    def open_turn(self, inbound: Any) -> Turn:
        try:
            loaded = self.journal.tried(lambda: self.journal.store.load(inbound.session))
            rows = [row.message for row in loaded]
            start = next(i for i, row in enumerate(loaded) if row.inbound == inbound.id)
        except Exception as error:
            raise GiveUp("I cannot read our conversation now. Please ask again.") from error
        unstored = self.journal.unstored(inbound.session)
        rows[start:start], start = unstored, start + len(unstored)
        turn = Turn(inbound, rows, start)
        if rows[-1].role == "assistant":
            lost = tuple(ToolResult(use.id, UNKNOWN, True) for use in rows[-1].tool_uses)
            self.keep(turn, Message("user", lost))
        return turn

    def keep(self, turn: Turn, row: Message) -> None:
        turn.rows.append(row)
        session = turn.inbound.session
        append = lambda: self.journal.store.append(session, row)  # noqa: E731
        self.journal.write(append, session=session, row=row)

    def look(self, turn: Turn) -> None:
        if self.brief.cancelled(turn.inbound.session):
            raise GiveUp("Cancelled.", "cancelled")

    def answer(self, turn: Turn) -> tuple[str, str]:
        hint, odd = "", 0
        for _ in range(REQUESTS):
            answer, hint = self.ask(turn, self.offered, hint), ""
            if answer.problem in (EMPTY, CUT) and odd < 2:
                odd += 1
                turn.most *= 2 if answer.problem == CUT else 1
                hint = SAY_SOMETHING if answer.problem == EMPTY else ""
                continue
            if answer.problem:
                return f"{answer.problem} {answer.text}", "failed"
            if not answer.calls:
                return answer.text, "completed"
            self.run_calls(turn, answer)
            if turn.refusals >= 3 or self.model.tokens > TURN_TOKENS:
                break
        last = self.ask(turn, [], LAST_WORDS)
        if last.problem or not last.text.strip():
            raise GiveUp("I stopped: the tools brought nothing new, or the turn was too long.")
        return last.text, "stopped"

    def ask(self, turn: Turn, tools: list[Any], hint: str) -> Answer:
        refused = 0
        for shorter in (self.summarise, self.clip_results, self.clip_results, None):
            items = to_items(turn.rows, turn.clip)
            items += [{"role": "user", "content": hint}] if hint else []
            size = len(json.dumps(items))
            if not refused or size < refused:
                try:
                    return self.model.ask(items, tools, turn.most, lambda: self.look(turn))
                except TooLong:
                    turn.may_compact = turn.may_compact and not refused
                    refused = size
            if shorter:
                shorter(turn, size)
        raise TooLong

    def clip_results(self, turn: Turn, size: int) -> None:
        longest = max((len(part.text) for row in turn.rows for part in row.tool_results), default=0)
        turn.clip = max(100, min(turn.clip, longest) // 3)

    def summarise(self, turn: Turn, size: int) -> None:
        """Let a summary stand for the past, or for the earlier steps of this turn."""
        fresh = [row for row in turn.rows[: turn.start] if not row.text.startswith(SUMMARY)]
        steps = [] if fresh else turn.rows[turn.start + 1 : -2]
        if not turn.may_compact or not (fresh or steps):
            return
        past = turn.rows[: turn.start] + steps
        told, most = json.dumps(to_items(past, 2000)), size // 3
        if len(told) > most:
            # What is left out is nowhere else: the summary of what was before has to stay.
            head = "".join(row.text for row in past[:1] if row.text.startswith(SUMMARY))
            head, tail = head[: most // 2], told[-(most - len(head[: most // 2])) :]
            told = f"{head} [{len(told) - len(tail)} characters left out] {tail}".strip()
        request = [{"role": "user", "content": f"{SUMMARISE}\n\n{told}"}]
        try:
            answer = self.model.ask(request, [], 1_000, lambda: self.look(turn), SUMMARY_TRIES)
        except (TooLong, GiveUp):
            answer = Answer("", [], EMPTY)
        good = not answer.problem and not answer.calls and len(answer.text) < len(told)
        turn.may_compact = good
        words = answer.text if good else "it was left out, for it is too long."
        summary = user(f"{SUMMARY}{words})")
        behind = turn.rows[-2:] if steps else turn.rows[turn.start + 1 :]
        kept = [] if good else turn.rows[max(0, turn.start - 2) : turn.start]
        turn.rows = [summary, *kept, turn.rows[turn.start], *behind]
        turn.start = 1 + len(kept)
        if fresh:
            self.journal.write(lambda: self.journal.summarise(turn.inbound, summary, len(kept)))

    def run_calls(self, turn: Turn, answer: Answer) -> None:
        used = {use.id for row in turn.rows for use in row.tool_uses}
        uses: list[ToolUse] = []
        for place, use in enumerate(answer.calls):
            if use.id and use in answer.calls[:place]:
                continue  # one call that was sent twice
            id = use.id if use.id and use.id not in used else f"call_{len(used)}_{len(turn.rows)}"
            used.add(id)
            uses.append(ToolUse(id, use.name, use.input))
        self.keep(turn, assistant(*filter(str.strip, [answer.text]), *uses))
        outcomes = [self.outcome(turn, use) for use in uses]
        self.keep(turn, Message("user", tuple(outcomes)))

    def outcome(self, turn: Turn, use: ToolUse) -> ToolResult:
        tool = self.tools.get(use.name)
        if turn.breaker.refuses(use):
            turn.refusals += 1
            return ToolResult(use.id, USELESS, True)
        if tool is None:
            text, failed = f"The tool failed: {use.name} cannot be called here.", True
        elif self.brief.cancelled(turn.inbound.session):
            text, failed = f"{NOT_RUN} for the user has cancelled.", True
        else:
            text, failed = run_tool(tool, use, turn.inbound.session)
        turn.breaker.note(use, text, failed)
        return ToolResult(use.id, text, failed)

    def close(self, inbound: Any, text: str, status: str) -> None:
        kind = "error" if status == "failed" else "final"
        row = assistant(clean(text))
        reply = lambda: self.journal.store.reply(inbound, row, status, kind)  # noqa: E731
        if not self.journal.write(reply, again=True, session=inbound.session, row=row):
            self.tell(inbound, "A part of our conversation could not be stored.", "notice", None)
        self.tell(inbound, clean(text), kind, status, reply=True)

    def tell(self, inbound: Any, text: str, kind: str, status: Any, reply: bool = False) -> None:
        for pause in (1, 3, 9, 0):
            try:
                self.brief.send(text, kind, inbound.session, inbound.id, status)
                if reply:
                    self.journal.write(lambda: self.journal.store.delivered(inbound))
                return
            except (TimeoutError, ConnectionError):
                text = text if text.startswith(AGAIN) else AGAIN + text
            except RuntimeError:
                pass
            self.brief.clock.sleep(pause)
        self.undelivered = reply


def agent(brief: Brief) -> None:
    """The target: `examples.agents.careful_tool:agent`."""
    Agent(brief).run()
