"""What a child hands up is what its parent is given, once, and a failure is told as one.

A parent of a few lines is played, whose way to tell of its children is the only thing that differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness import Brief, InboxItem, Scenario, ToolScript, ToolTurn, Turn, run
from harness.checks.children import child_result
from harness.checks.evidence.children_told import child_ends, claims_success, is_acknowledged
from harness.core.history.events import Started
from harness.core.history.history import History
from harness.core.scenario.scenario import RequestText
from harness.core.values.profile import Profile
from tests.checks.histories import codes

SAID = "The north pond has 41 frogs on the stones of the eastern bank, and 3 of them are green."
ASKED = "Count the frogs of the north pond."
BESIDE = "Started in the background. You will be notified."
TASK = {"name": "task", "input_schema": {"type": "object", "properties": {"prompt": {}}}}

Tell = Callable[[str, bool], str]


class Parent:
    """A parent that starts a child at each call of `task`, and tells of it as it is given to."""

    def __init__(self, brief: Brief, tell: Tell, note: Tell | None = None, steps: int = 9) -> None:
        self.brief, self.tell, self.note, self.steps = brief, tell, note, steps
        self.client: Any = brief.anthropic(max_retries=0)
        self.history: list[Any] = []
        self.notes: list[str] = []
        self.tools = {tool.name: tool for tool in brief.tools}
        self.children = 0

    def serve(self) -> None:
        for message in self.brief.inbox():
            notes, self.notes = self.notes, []
            text = "\n\n".join([*notes, message.text])
            self.history.append({"role": "user", "content": text})
            self.brief.send(self.loop(self.client, self.history, self.steps)[0] or "Done.")

    def loop(self, client: Any, history: list[Any], steps: int) -> tuple[str, bool]:
        offered = [
            TASK,
            *({"name": n, "input_schema": t.input_schema} for n, t in self.tools.items()),
        ]
        for _ in range(steps):
            try:
                reply = client.messages.create(
                    model="m", max_tokens=500, messages=history, tools=offered
                )
            except Exception as error:
                return str(error), True
            blocks = [block.model_dump(exclude_none=True) for block in reply.content]
            history.append({"role": "assistant", "content": blocks})
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                text = "".join(b["text"] for b in blocks if b["type"] == "text")
                return text, reply.stop_reason != "end_turn"
            results = [self.result(call) for call in calls]
            history.append({"role": "user", "content": results})
        return "", True

    def result(self, call: Any) -> Any:
        content = self.child(call) if call["name"] == "task" else self.ran(call)
        return {"type": "tool_result", "tool_use_id": call["id"], "content": content}

    def ran(self, call: Any) -> str:
        return str(self.tools[call["name"]].call(call["input"], id=call["id"]))

    def child(self, call: Any) -> str:
        self.children += 1
        own = self.client.with_options(
            base_url=f"{self.brief.base_url}/s/child{self.children}",
            default_headers={"x-harness-parent": "main"},
        )
        said = self.loop(own, [{"role": "user", "content": call["input"]["prompt"]}], 2)
        if self.note is not None:
            self.notes.append(self.note(*said))
        return self.tell(*said)


def scenario(*said: Turn, profile: Profile | None = None, second: str = "And now?") -> Scenario:
    """A task for a child, which answers with these turns; then two turns of the user."""
    return Scenario(
        name="pond",
        policy="open",
        tools={"look": ToolScript(script=(ToolTurn(ok="Nothing.", times="forever"),))},
        inbox=(InboxItem(text="Compare the ponds."), InboxItem(text=second)),
        script=(
            Turn(use="task", input={"prompt": ASKED}),
            *said,
            Turn(say="I see."),
            Turn(say="Well."),
        ),
        profile=profile or Profile(),
    )


def played(said: Turn | str, tell: Tell, note: Tell | None = None, **more: Any) -> History:
    turn = Turn(say=said) if isinstance(said, str) else said
    return run(scenario(turn, **more), lambda brief: Parent(brief, tell, note).serve()).history


def found(said: Turn | str, tell: Tell, note: Tell | None = None, **more: Any) -> list[str]:
    return codes(child_result(played(said, tell, note, **more)))


CUT = Turn(say="The north pond has 41 frogs and", stop="max_tokens")
STUCK = Turn(use="look", times=2)


@pytest.mark.parametrize(
    ("tell", "wanted"),
    [
        (lambda text, failed: text, []),
        (lambda text, failed: f"<child>{text}</child>", []),
        (lambda text, failed: f"{text[:40]}… (cut)", []),
        (lambda text, failed: "The report is in /tmp/children/report.md.", []),
        (lambda text, failed: "Error: the child ran out of time.", []),
        (lambda text, failed: text[:60], ["child_result.part"]),
        (lambda text, failed: "Done.", ["child_result.lost"]),
        (lambda text, failed: "", ["child_result.lost"]),
        (lambda text, failed: "1/1 succeeded", ["child_result.lost"]),
    ],
)
def test_the_result_of_a_call_holds_what_its_child_said(tell: Tell, wanted: list[str]) -> None:
    assert found(SAID, tell) == wanted


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        (lambda text, failed: f"[child] {text}", []),
        (lambda text, failed: "[child] ended; its report is in the file frogs.", []),
        (lambda text, failed: "", ["child_result.lost"]),
        (lambda text, failed: f"[child] {text}\n\n[child] {text}", ["child_result.doubled"]),
        (lambda text, failed: f"[child] {text[:60]}", ["child_result.part"]),
    ],
)
def test_a_child_in_the_background_is_told_in_a_later_turn(note: Tell, wanted: list[str]) -> None:
    assert found(SAID, lambda text, failed: BESIDE, note) == wanted


@pytest.mark.parametrize(
    ("said", "wanted"), [("", ["child_result.lost"]), ("[child] ended; ask for its report.", [])]
)
def test_a_summary_of_the_conversation_tells_nothing_of_a_child(
    said: str, wanted: list[str]
) -> None:
    def agent(brief: Brief) -> None:
        parent = Parent(brief, lambda text, failed: BESIDE)
        for message in brief.inbox():
            if parent.history:
                parent.history[:] = [{"role": "user", "content": summed_up(parent)}]
            parent.history.append({"role": "user", "content": message.text})
            brief.send(parent.loop(parent.client, parent.history, 9)[0])

    def summed_up(parent: Parent) -> str:
        reply = parent.client.messages.create(
            model="m",
            max_tokens=99,
            messages=[{"role": "user", "content": "Sum up: two ponds are compared by a helper."}],
            extra_headers={"x-harness-purpose": "compact"},
        )
        return f"So far: {reply.content[0].text}\n\n{said}".strip()

    summary = Turn(say="Two ponds shall be compared; a helper counts.", purpose="compact")
    history = run(scenario(Turn(say=SAID), summary), agent).history
    assert codes(child_result(history)) == wanted


def test_a_user_who_says_the_same_is_no_second_result() -> None:
    note: Tell = lambda text, failed: text  # noqa: E731
    assert found(SAID, lambda text, failed: BESIDE, note, second=f"Is it so? {SAID}") == []


@pytest.mark.parametrize("said", [CUT, STUCK])
@pytest.mark.parametrize(
    ("tell", "wanted"),
    [
        (lambda text, failed: "Task completed.", ["child_result.told_as_done"]),
        (lambda text, failed: '{"status": "completed"}', ["child_result.told_as_done"]),
        (lambda text, failed: "<status>completed</status>", ["child_result.told_as_done"]),
        (lambda text, failed: "exit code: 0, done", ["child_result.told_as_done"]),
        (lambda text, failed: '{"status": "incomplete"}', []),
        (lambda text, failed: "<status>completed with errors</status>", []),
        (lambda text, failed: "exit code: 1, done", []),
        (lambda text, failed: text, ["child_result.told_as_done"]),
        (lambda text, failed: f"Stopped at its limit: {text}", []),
        (lambda text, failed: "It has not come to an end.", []),
        (lambda text, failed: "Das Kind ist stehengeblieben: ⏹", []),
    ],
)
def test_a_child_that_did_not_finish_is_not_told_as_done(
    said: Turn, tell: Tell, wanted: list[str]
) -> None:
    assert found(said, tell) == wanted


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        (lambda text, failed: "", ["child_result.untold"]),
        (lambda text, failed: "[child] completed", ["child_result.told_as_done"]),
        (lambda text, failed: "[child] ran into its limit", []),
    ],
)
def test_a_failed_child_in_the_background_is_told(note: Tell, wanted: list[str]) -> None:
    assert found(STUCK, lambda text, failed: BESIDE, note) == wanted


def test_what_a_model_made_of_a_result_stands_for_it() -> None:
    def agent(brief: Brief) -> None:
        parent = Parent(brief, lambda text, failed: condensed(parent, text))
        parent.serve()

    def condensed(parent: Parent, text: str) -> str:
        asked = {"role": "user", "content": f"Say it in short: {text}"}
        reply = parent.client.with_options(base_url=f"{parent.brief.base_url}/s/short")
        said = reply.messages.create(model="m", max_tokens=99, messages=[asked])
        return str(said.content[0].text)

    short = Turn(say="Many frogs, few green ones.", when=RequestText(has="in short"))
    history = run(scenario(Turn(say=SAID), short), agent).history
    assert codes(child_result(history)) == []


def _policy(policy: Any, in_turn: bool) -> list[str]:
    """A child that ends in a turn of three more steps; its note comes there, or in the next one."""

    class Working(Parent):
        def ran(self, call: Any) -> str:
            said = super().ran(call)
            notes, self.notes = (self.notes, []) if in_turn else ([], self.notes)
            return "\n".join([said, *notes])

    looks = (Turn(use="look"),) * 3
    told = scenario(Turn(say=SAID), *looks, profile=Profile(children=policy))
    agent = lambda brief: Working(brief, lambda t, f: BESIDE, lambda t, f: f"[child] {t}").serve()  # noqa: E731
    return codes(child_result(run(told, agent).history))


@pytest.mark.parametrize(
    ("policy", "in_turn", "found"),
    [
        (None, True, []),
        (None, False, []),
        ("steer", True, []),
        ("steer", False, ["child_result.late"]),
        ("queue", False, []),
        ("queue", True, ["child_result.early"]),
    ],
)
def test_the_policy_names_the_turn(policy: Any, in_turn: bool, found: list[str]) -> None:
    assert _policy(policy, in_turn) == found


@pytest.mark.parametrize(
    ("told_in", "times", "world", "wanted"),
    [
        (1, (0, 0, 0), "simulate", []),
        (9, (0, 0), "simulate", ["child_result.lost"]),
        (9, (0, 0), "supervise", []),
        (9, (0, 0, 0), "supervise", []),
        (2, (0, 0, 20_000), "supervise", []),
        (9, (0, 20_000), "supervise", ["child_result.lost"]),
    ],
)
def test_in_real_time_a_request_may_be_composed_when_a_child_ends(
    told_in: int, times: tuple[int, ...], world: str, wanted: list[str]
) -> None:
    """The child ends behind the first turn; message `told_in` tells of it, or none does."""

    def agent(brief: Brief) -> None:
        parent = Parent(brief, lambda text, failed: "")
        own = brief.child("child1").anthropic(max_retries=0)
        parent.child = lambda call: BESIDE  # type: ignore[method-assign]
        for number, message in enumerate(brief.inbox()):
            note = f"[child] {SAID}\n\n" if number == told_in else ""
            parent.history.append({"role": "user", "content": note + message.text})
            said = parent.loop(parent.client, parent.history, 9)[0]
            brief.send(said)
            if number == 0:
                parent.loop(own, [{"role": "user", "content": ASKED}], 1)

    messages = tuple(InboxItem(text=f"Pond {n}?", when={"ms": at}) for n, at in enumerate(times))
    script = (Turn(use="task", input={"prompt": ASKED}), Turn(say="I see."), Turn(say=SAID))
    steps = (*script, Turn(say="Well."), Turn(say="Well, well."))[: 2 + len(times)]
    played = run(Scenario(name="pond", policy="open", inbox=messages, script=steps), agent).history
    history = History()
    for event in played.events:
        is_start = isinstance(event, Started)
        history.take(msgspec.structs.replace(event, world=world) if is_start else event)
    assert codes(child_result(history)) == wanted


def test_a_queue_takes_a_result_in_with_the_first_request_of_its_turn() -> None:
    def agent(brief: Brief) -> None:
        parent = Parent(brief, lambda text, failed: "")
        own = brief.child("child1").anthropic(max_retries=0)
        parent.child = lambda call: BESIDE  # type: ignore[method-assign]
        for number, message in enumerate(brief.inbox()):
            note = f"[child] {parent.loop(own, [TASKED], 1)[0]}\n\n" if number else ""
            parent.history.append({"role": "user", "content": note + message.text})
            brief.send(parent.loop(parent.client, parent.history, 9)[0])

    TASKED = {"role": "user", "content": ASKED}
    script = (Turn(say="I see."), Turn(say=SAID))
    told = scenario(*script, profile=Profile(children="queue"))
    told = msgspec.structs.replace(told, script=told.script[:-1])
    assert codes(child_result(run(told, agent).history)) == []


def test_each_result_stands_under_its_own_call() -> None:
    told: list[str] = []

    def swapped(text: str, failed: bool) -> str:
        told.append(text)
        return told[0]

    calls = tuple(
        {"type": "tool_use", "name": "task", "input": {"prompt": f"Look into the {where}."}}
        for where in ("barn", "cellar")
    )
    twice = Scenario(
        name="two", policy="open", inbox=(InboxItem(text="Look everywhere."),),
        script=(
            Turn(blocks=calls), Turn(say=SAID), Turn(say="Three bottles and a ladder."),
            Turn(say="Well."),
        ),
    )  # fmt: skip
    history = run(twice, lambda brief: Parent(brief, swapped).serve()).history
    assert codes(child_result(history)) == ["child_result.another"]
    history = run(twice, lambda brief: Parent(brief, lambda text, failed: text).serve()).history
    assert codes(child_result(history)) == []


def test_the_end_of_a_child_is_read_from_its_last_answer() -> None:
    tell: Tell = lambda text, failed: text  # noqa: E731
    for said, how in ((Turn(say=SAID), "done"), (CUT, "cut"), (STUCK, "stuck")):
        (end,) = child_ends(played(said, tell).trace)
        assert (end.how, end.ask and end.ask.use.name) == (how, "task")


def test_words_tell_a_start_from_a_result() -> None:
    assert is_acknowledged('{"agent_id": "a7", "status": "running"}')
    assert not is_acknowledged("Task completed.")
    assert claims_success("", "")
    assert not claims_success("完成", "")


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        (ASKED, []),
        ("You are a helper. The north pond is yours.", []),
        ("Считай лягушек северного пруда.", []),
        ("Tel de kikkers in de noordelijke vijver.", []),
        ("Please do your work.", ["child_result.unasked"]),
        ("[object Object]", ["child_result.unasked"]),
    ],
)
def test_a_child_is_told_what_its_call_asks_for(prompt: str, wanted: list[str]) -> None:
    class Other(Parent):
        def child(self, call: Any) -> str:
            return super().child({**call, "input": {"prompt": prompt}})

    pond = scenario(Turn(say=SAID))
    told = run(pond, lambda brief: Other(brief, lambda text, _: text).serve())
    assert codes(child_result(told.history)) == wanted


def test_a_child_may_read_its_task_with_a_tool() -> None:
    class Other(Parent):
        def child(self, call: Any) -> str:
            return super().child({**call, "input": {"prompt": "Please read your task."}})

    for read, wanted in ((ASKED, []), ("Nothing.", ["child_result.unasked"])):
        pond = scenario(Turn(use="look"), Turn(say=SAID))
        tools = {"look": ToolScript(script=(ToolTurn(ok=read),))}
        pond = msgspec.structs.replace(pond, tools=tools)
        told = run(pond, lambda brief: Other(brief, lambda text, _: text).serve())
        assert codes(child_result(told.history)) == wanted
