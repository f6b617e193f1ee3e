"""The stack of a program: its error, the user's frames, and nothing of what stands around it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.targets.printed_stack import SAID_MAX, printed_end, printed_stack

NODE = """\
The model 'claude-x' is deprecated and will reach end-of-life soon.
file:///home/me/app/bot.mjs:5
  const deep = (n) => {
                ^

TypeError: Cannot read properties of undefined (reading 'x')
    at deep (file:///home/me/app/lib/deep.mjs:5:44)
    at async answer (/home/me/app/bot.mjs:9:3)
    at async file:///home/me/app/main.mjs:3:1
    at Anthropic.post (/home/me/app/node_modules/@anthropic-ai/sdk/client.mjs:300:5)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {
  status: 400,
  headers: Headers { 'request-id': 'req-1' }
}

Node.js v20.20.2"""

PYTHON = """\
Traceback (most recent call last):
  File "/home/me/app/first.py", line 1, in <module>
    call()
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/app/main.py", line 12, in <module>
    main()
    ~~~~^^
  File "/usr/lib/python3/site-packages/anthropic/_base.py", line 7, in post
    raise
  File "/home/me/app/agent.py", line 7, in turn
    raise Refused("no")
agent.Refused: no
a last word"""


def test_a_stack_of_node() -> None:
    stack = printed_stack(NODE, "/home/me/app")
    assert stack is not None
    assert stack.said == "TypeError: Cannot read properties of undefined (reading 'x')"
    assert [(f.file, f.line, f.function) for f in stack.frames] == [
        ("main.mjs", 3, "<module>"),
        ("bot.mjs", 9, "answer"),
        ("lib/deep.mjs", 5, "deep"),
    ]
    assert stack.place is not None
    assert (str(stack.place), stack.place.error) == ("lib/deep.mjs:5", "TypeError")
    assert printed_end(1, NODE, "/home/me/app").traceback == NODE


def test_a_traceback_of_python_is_the_last_one() -> None:
    stack = printed_stack(PYTHON, "/home/me/app")
    assert stack is not None
    assert stack.said == "agent.Refused: no"
    assert [(f.file, f.function) for f in stack.frames] == [
        ("main.py", "<module>"),
        ("agent.py", "turn"),
    ]
    assert stack.place is not None
    assert stack.place.error == "agent.Refused"


def test_an_error_of_several_lines_is_one_error() -> None:
    said = "Error: 2 problems:\n- the first\n- the second"
    stack = printed_stack(f"{said}\n    at f (/app/a.js:1:2)\n", "/app")
    assert stack is not None
    assert stack.said == said
    assert stack.frames[-1].function == "f"


def test_of_two_stacks_the_last_one_counts() -> None:
    warning = "DeprecationWarning: old\n    at w (/app/w.js:1:1)\n"
    stack = printed_stack(f"{warning}RangeError: deep\n    at f (/app/a.js:1:2)\n", "/app")
    assert stack is not None
    assert stack.said == "RangeError: deep"


def test_only_frames_of_packages_give_no_place() -> None:
    text = "Error: no\n    at f (/app/node_modules/x/a.js:1:2)\n    at node:internal/main:1:1"
    end = printed_end(1, text, "/app")
    assert (end.text, end.frames, end.place) == ("Error: no", (), None)


def test_output_without_a_stack_is_told_as_it_is() -> None:
    broken = ("Traceback (most recent call last):", "    at f (x:1:1)")
    for text in ("", "usage: bot [-h]", "  at home", *broken):
        end = printed_end(2, text, "/app")
        assert (end.how, end.exit_code, end.text, end.frames) == ("crashed", 2, text.strip(), ())


def test_the_source_is_read_from_the_folder_of_the_user_only(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    for place in ("app/in.js", "out.js"):
        (tmp_path / place).write_text("secretly()\n")
    for place, source in (("app/in.js", "secretly()"), ("out.js", "")):
        stack = printed_stack(f"Error: no\n    at f ({tmp_path}/{place}:1:2)", f"{tmp_path}/app")
        assert stack is not None
        assert stack.frames[0].source == source


@given(st.text(), st.integers(1, 5))
def test_a_long_error_is_cut_and_nothing_breaks_the_reader(said: str, times: int) -> None:
    text = f"Error: {'x' * SAID_MAX * times}\n    at f (/app/a.js:1:2)\n{said}"
    stack = printed_stack(text, "/app")
    assert stack is not None
    assert len(stack.said) <= SAID_MAX
    printed_stack(said, "/app")
