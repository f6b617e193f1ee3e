"""What a target prints is captured at the descriptors, without a wait for who holds them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.targets import output_capture
from harness.targets.output_capture import captured

_stdout = sys.stdout


def _prints_everywhere() -> None:
    print("by print")
    sys.stderr.write("by stderr\n")
    os.write(1, b"by descriptor 1\n")
    os.write(2, b"by descriptor 2\n")
    subprocess.run([sys.executable, "-S", "-c", "print('by a child')"], check=True)


def test_all_ways_to_print_are_captured_in_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    with captured("fd") as output:
        _prints_everywhere()
    print("after")
    assert output.text.splitlines() == [
        "by print", "by stderr", "by descriptor 1", "by descriptor 2", "by a child",
    ]  # fmt: skip
    assert capfd.readouterr().out == "after\n"


def test_sys_leaves_the_descriptors_alone(capfd: pytest.CaptureFixture[str]) -> None:
    with captured("sys") as output:
        _prints_everywhere()
    assert output.text.splitlines() == ["by print", "by stderr"]
    seen = capfd.readouterr()
    assert (seen.out, seen.err) == ("by descriptor 1\nby a child\n", "by descriptor 2\n")


def test_tee_sys_shows_what_it_captures(capfd: pytest.CaptureFixture[str]) -> None:
    with captured("tee-sys") as output:
        print("twice")
    assert (output.text, capfd.readouterr().out) == ("twice\n", "twice\n")


def test_no_captures_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with captured("no") as output:
        print("seen")
    assert (output.text, capfd.readouterr().out) == ("", "seen\n")


def test_a_child_that_keeps_the_descriptor_is_not_waited_for() -> None:
    with captured("fd") as output:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        os.write(1, b"before\n")
    assert child.poll() is None
    assert output.text == "before\n"
    child.communicate(b"late\n")
    assert output.text == "before\n"


def test_closed_and_replaced_streams_are_put_back(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with captured("fd"):
        print("half")
        os.close(1)
        sys.stdout = sys.stderr = None  # type: ignore[assignment]
    os.write(1, b"whole\n")
    assert (sys.stdout is before, capfd.readouterr().out) == (True, "whole\n")


def test_a_forked_child_that_ends_at_once_loses_nothing() -> None:
    with captured("fd") as output:
        child = os.fork()
        if not child:
            print("last words")
            os._exit(0)
        os.waitpid(child, 0)
    assert output.text == "last words\n"


def test_text_that_no_encoding_has_ends_nothing() -> None:
    with captured("fd") as output:
        print("\ud800")
        os.write(1, b"\xff\n")
    assert output.text == "\\ud800\n\ufffd\n"


def test_of_much_output_the_end_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_capture, "OUTPUT_MAX_BYTES", 10)
    with captured("fd") as output:
        print("x" * 1000)
        print("the end")
    assert output.text == "x\nthe end\n"
