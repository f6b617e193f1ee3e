"""What a program writes to its file of marks is read, bounded, and never ends a run.

A mark is written at once, and in front of the next call where a call is being decided.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.clock import VirtualClock
from harness.core.history.events import Called, Marked
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.mark_kinds import LOCAL_OUTPUT, Mark
from harness.runner import prepare, program_marks
from harness.runner.program_marks import MarkLog, ProgramMarks
from harness.targets import resolve
from harness.transports.dispatcher import Dispatcher
from tests.runner.programs import PRELUDE, program

LINES = st.lists(
    st.binary(max_size=60)
    | st.sampled_from([b"{}", b"[]", b'{"antithesis_assert":1}', b'{"antithesis_setup":{}}'])
    | st.sampled_from([b"[" * 2_000, b'{"antithesis_assert":{"assert_type":"no","message":"a"}}'])
)

TWO = Scenario(
    name="two", inbox=(InboxItem(text="One?"), InboxItem(text="Two?")),
    script=(Turn(say="One."), Turn(say="Two.")),
)  # fmt: skip


def _line(type_: str = "always", name: str = "a", **fields: Any) -> bytes:
    said = {
        "hit": True, "must_hit": True, "assert_type": type_, "display_type": type_.capitalize(),
        "message": name, "condition": True, "id": name,
        "location": {"class": "", "file": "bot.py", "function": "f", "begin_line": 3,
                     "begin_column": 0},
    }  # fmt: skip
    return json.dumps({"antithesis_assert": {**said, **fields}}).encode() + b"\n"


def _written(folder: Path, data: bytes) -> ProgramMarks:
    marks = ProgramMarks(folder)
    Path(marks.names[LOCAL_OUTPUT]).write_bytes(data)
    return marks


@pytest.mark.parametrize(
    ("line", "kind", "holds"),
    [
        (_line(), "always", True),
        (_line(condition=False), "always", False),
        (_line(must_hit=False, display_type="AlwaysOrUnreachable"), "always", True),
        (_line("sometimes", condition=False), "sometimes", False),
        (_line("reachability", display_type="Reachable"), "reachable", True),
        (_line("reachability", display_type="Unreachable", must_hit=False, condition=False),
         "unreachable", False),
        (_line("reachability", display_type="", must_hit=False), "unreachable", False),
        (_line(hit=False, condition=False), "always", None),
    ],
)  # fmt: skip
def test_a_line_of_the_sdk_is_a_mark(tmp_path: Path, line: bytes, kind: str, holds: bool) -> None:
    (mark,) = _written(tmp_path, line).read()
    assert (mark.kind, mark.holds, mark.where) == (kind, holds, "bot.py:3 in f")


@given(LINES)
def test_no_line_ends_the_reading(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    data = b"\n".join([*lines, _line(name="last")])
    marks = _written(tmp_path_factory.mktemp("marks"), data)
    assert [mark.name for mark in marks.end()][-1:] == ["last"]


def test_bad_lines_are_told_with_the_first_one(tmp_path: Path) -> None:
    marks = _written(
        tmp_path, _line() + b"no\n" + b'{"antithesis_setup":{"status":"a"}}\n{}\n{"a"\n'
    )
    assert [mark.name for mark in marks.end()] == ["a"]
    (words,) = marks.unread
    assert words.startswith("2 lines of its file of marks cannot be read: line 2: ")


def test_a_line_is_read_once_and_whole(tmp_path: Path) -> None:
    first, second = _line(name="a"), _line(name="b")
    marks = _written(tmp_path, first + second[:20])
    assert [mark.name for mark in marks.read()] == ["a"]
    assert list(marks.read()) == []
    with Path(marks.names[LOCAL_OUTPUT]).open("ab") as file:
        file.write(second[20:-1])
    assert list(marks.read()) == []
    assert [mark.name for mark in marks.end()] == ["b"]
    assert marks.unread == ()


def test_a_file_of_a_gigabyte_is_read_to_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_marks, "BYTES_MOST", 3 * len(_line()))
    marks = _written(tmp_path, _line())
    os.truncate(marks.names[LOCAL_OUTPUT], 1 << 30)
    assert [mark.name for mark in marks.end()] == ["a"]
    assert f"{(1 << 30) - 3 * len(_line())} bytes of its file" in marks.unread[-1]


@pytest.mark.parametrize("kind", ["none", "folder", "pipe"])
def test_what_is_no_file_is_not_read(tmp_path: Path, kind: str) -> None:
    marks = ProgramMarks(tmp_path)
    path = Path(marks.names[LOCAL_OUTPUT])
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    assert list(marks.end()) == []


def test_details_of_a_program_are_bounded_and_hold_no_secret(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30
    (mark,) = _written(tmp_path, _line(details={"key": key, "long": "b " * 9_999})).read()
    assert key not in str(mark)
    assert len(mark.details["long"]) <= 500


SDK = f"""
def mark(**said):
    with open(os.environ[{LOCAL_OUTPUT!r}], 'ab', buffering=0) as file:
        file.write(json.dumps({{'antithesis_assert': said}}).encode() + b'\\n')

mark(hit=False, assert_type='sometimes', message='never', condition=False)
for number, message in enumerate(inbox()):
    mark(assert_type='always', message='one turn', condition=number < 1, hit=True)
    say(message, ask(message['text']))
mark(assert_type='reachability', display_type='Unreachable', message='the end', hit=True)
open(os.environ[{LOCAL_OUTPUT!r}], 'a').write('no line')
"""

PYTHON = """
import harness
for number, message in enumerate(inbox()):
    for _ in range(99): harness.sometimes(number == 1, "a second message")
    say(message, ask(message['text']))
"""


def _marks(done: harness.Run) -> list[tuple[str, str, int, bool | None]]:
    events = [event for event in done.history.events if isinstance(event, Marked)]
    return [(event.kind, event.name, event.turn, event.holds) for event in events]


def test_marks_of_a_program_stand_in_the_turn_in_which_it_wrote_them(tmp_path: Path) -> None:
    done = harness.run(TWO, program(tmp_path, SDK))
    assert _marks(done) == [
        ("sometimes", "never", 0, None),
        ("always", "one turn", 1, True),
        ("always", "one turn", 2, False),
        ("unreachable", "the end", 2, False),
    ]
    codes = [f.code for f in done.verdict.findings if f.check == "own_marks"]
    assert codes == ["own_marks.broken", "own_marks.reached"]
    assert "1 line of its file of marks" in list(harness.event_lines(done.history).values())[-1]


def test_a_python_program_makes_the_marks_of_the_harness(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text(PRELUDE + PYTHON)
    target = resolve(f"process:env PYTHONPATH={os.getcwd()} {shlex.quote(sys.executable)} {path}")
    done = harness.run(TWO, target)
    assert _marks(done) == [
        ("sometimes", "a second message", 1, False),
        ("sometimes", "a second message", 2, True),
    ]
    (mark, _) = (event for event in done.history.events if isinstance(event, Marked))
    assert mark.where.endswith("bot.py:33 in <module>")


ONE = Scenario(name="one", inbox=(InboxItem(text="One?"),), script=(Turn(say="One."),))


def _dispatcher() -> Dispatcher:
    transition = prepare.transition_for(ONE)
    prepare.start(transition, resolve("reference"), "simulate", 0, store=False)
    return Dispatcher(transition, VirtualClock(0, limit_s=60, seed=1))


def _kinds(dispatcher: Dispatcher) -> list[str]:
    events = dispatcher.transition.history.events
    return [type(event).__name__ for event in events if isinstance(event, (Marked, Called))]


def test_a_mark_under_the_lock_of_the_run_is_written_before_the_next_call() -> None:
    """A handler of a signal makes one while its own thread holds the lock."""
    dispatcher = _dispatcher()
    log = MarkLog(dispatcher)
    with dispatcher.lock:
        log.take(Mark("reachable", "in a handler", True))
        assert _kinds(dispatcher) == []
    dispatcher.next_inbound()
    log.take(Mark("reachable", "at once", True))
    assert _kinds(dispatcher) == ["Marked", "Called", "Marked"]
    assert log.knows("reachable", "at once", True)
    assert not log.knows("reachable", "in a handler", True)  # that was before the turn


def test_marks_that_another_wrote_stand_before_the_call_that_came_after_them() -> None:
    written = [Mark("always", "a", True)]

    def read() -> list[Mark]:
        found, written[:] = written[:], []
        return found

    dispatcher = _dispatcher()
    MarkLog(dispatcher, read)
    dispatcher.next_inbound()
    assert _kinds(dispatcher) == ["Marked", "Called"]


def test_each_life_keeps_the_marks_before_its_kill() -> None:
    def agent(brief: Any) -> None:
        harness.reachable("begins")
        for message in brief.inbox():
            harness.reachable("takes")
            client = brief.anthropic()
            said = [{"role": "user", "content": message.text}]
            reply = client.messages.create(model="any", max_tokens=500, messages=said)
            brief.send(reply.content[0].text, in_reply_to=message.id)

    kill = FaultSpec(kind="gateway.killed", when=1)
    scenario = Scenario(name="killed", inbox=ONE.inbox, script=ONE.script, faults=(kill,), seed=3)
    done = harness.run(scenario, agent)
    names = [e.name if isinstance(e, Marked) else type(e).__name__ for e in done.history.events]
    assert names.index("takes") < names.index("Killed")
    assert names.index("begins") < names.index("takes")
