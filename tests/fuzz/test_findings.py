"""Findings: alike ones are shrunk once, equal ones are one, and what is written is whole."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec
import pytest

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.verdict import Cause, Finding
from harness.fuzz.completion_oracle import COMPLETED
from harness.fuzz.example import RawFinding
from harness.fuzz.findings import (
    FOLDER,
    Findings,
    ShrunkFinding,
    keeps_expectation,
    model_messages,
    name_of,
    write,
)


def found(example: int, code: str = "a.b", *fired: str) -> RawFinding:
    finding = Finding(code, "it does wrong", cause=Cause(fault=", ".join(fired)))
    return RawFinding(finding, example, (1, 2))


def reduced(example: int, kind: str = "x", failure: str = "") -> ShrunkFinding:
    finding = Finding("a.b", f"example {example}", (example,), cause=Cause(fault=kind))
    return ShrunkFinding(finding=finding, example=example, name=f"a-b-{kind}", failure=failure)


def key(kind: str) -> tuple[str, Cause]:
    return "a.b", Cause(fault=kind)


def test_raw_findings_that_are_alike_are_shrunk_once_and_only_some_of_a_code() -> None:
    findings = Findings()
    assert findings.found(found(1))
    assert not findings.found(found(2))
    assert findings.found(found(2, "a.b", "http.status"))
    assert findings.found(found(2, "c.d"))
    taken = [findings.found(found(n, "a.b", f"fault-{n}")) for n in range(3, 30)]
    assert 0 < sum(taken) < 10


def test_findings_of_one_code_and_shape_are_one_and_the_first_stays() -> None:
    findings = Findings()
    for example in (1, 2, 3, 4):
        findings.found(found(example, "a.b", f"fault-{example}"))
    first = reduced(1)
    further = (reduced(2), reduced(3, "y"))
    assert [findings.reduced(r) for r in (first, *further)] == [True, False, True]
    assert findings.kept[key("x")] is first
    assert not findings.reduced(reduced(4, failure="it does not repeat"))
    assert [r.example for r in findings.unrepeated] == [4]
    assert findings.waiting == []


def test_the_earliest_example_of_a_shape_is_kept_in_whatever_order_shrinking_ends() -> None:
    findings = Findings()
    later, earlier = reduced(5), reduced(2)
    assert [findings.reduced(r) for r in (later, earlier, later)] == [True, True, False]
    assert findings.kept[key("x")] is earlier


def test_what_is_known_is_what_would_not_be_taken() -> None:
    findings = Findings()
    for number in range(30):
        one = found(number, "a.b", f"fault-{number}")
        is_known = one.finding.group in findings.known or one.code in findings.enough
        assert findings.found(one) is not is_known
    assert findings.enough == {"a.b"}


def test_a_finding_is_a_scenario_file_and_a_test_that_plays_it(tmp_path: Path) -> None:
    made = ShrunkFinding(
        finding=Finding("a.b", 'says """ and \\ and\nmore' + " words" * 40),
        example=1,
        name="a-b-123456",
        text="name: a-b-123456\n",
    )
    write(tmp_path / "more", made, "pkg.mod:agent", "mine.toml", "jsonl:rows")
    asked = (tmp_path / "more" / FOLDER / "test_a_b_123456.py").read_text()
    assert "'pkg.mod:agent', profile='mine.toml', store='jsonl:rows')" in asked
    path = write(tmp_path, made, "pkg.mod:agent")
    assert path == tmp_path / FOLDER / "a-b-123456.yaml"
    assert path.read_text() == made.text
    test = (path.parent / "test_a_b_123456.py").read_text()
    ast.parse(test)
    assert max(map(len, test.splitlines())) <= 100
    assert "play(\"a-b-123456.yaml\", 'pkg.mod:agent')" in test
    assert {p.name for p in path.parent.iterdir()} == {"a-b-123456.yaml", "test_a_b_123456.py"}


SCENARIO = Scenario(
    name="generated",
    session=Session(messages=(SeedMessage(role="assistant", content="Hi"),)),
    tools={"ping": ToolScript(script=(ToolTurn(error="no"),))},
    inbox=(InboxItem(id="m1", text="a"), InboxItem(id="m1", text="a")),
    script=(Turn(use="ping", times=3), Turn(say="Done.", times="forever", optional=True)),
    faults=(FaultSpec(kind="http.status", when=4),),
)


@pytest.mark.parametrize("target", ['a:"""', "a:b\\", "a\0:b", "a:'\n\"", "half\ud83d:a"])
def test_the_test_of_a_finding_is_python_for_every_target(tmp_path: Path, target: str) -> None:
    finding = Finding("run.crashed", 'he said """\\')
    found = ShrunkFinding(finding=finding, example=1, name="small", text="name: small\n")
    test = write(tmp_path, found, target).with_name("test_small.py")
    ast.parse(test.read_bytes())


def test_stored_messages_and_turns_that_must_come_are_counted() -> None:
    assert model_messages(SCENARIO) == 2


@pytest.mark.parametrize("code", ["valid_request.V4", "target.crashed", "limit.model_calls"])
def test_a_name_is_one_that_a_scenario_file_may_have(code: str) -> None:
    finding = Finding(code, "x", (1,), cause=Cause(tool="x"))
    name = name_of(finding)
    assert name == name_of(msgspec.structs.replace(finding, message="y", events=(2,)))
    assert name != name_of(msgspec.structs.replace(finding, cause=Cause(subject="x")))
    assert name.replace("-", "").isalnum()
    assert name.islower()


def test_what_is_left_of_a_broken_expectation_is_a_scenario_that_may_expect_it() -> None:
    talk = tuple(
        SeedMessage(role=role, content=({"type": "text", "text": "hello"},))
        for _ in range(3)
        for role in ("user", "assistant")
    )
    calm = Scenario(
        name="calm",
        inbox=(InboxItem(text="go"),),
        script=(Turn(say="Done."),),
        faults=(FaultSpec(kind="http.too_large", often="once"),),
        session=Session(messages=talk),
        expect=COMPLETED,
    )
    cut = msgspec.structs.replace(calm, session=Session(messages=talk[:2]))
    beside = InboxItem(text="go", session="side")  # has nothing that could be left out
    aside = msgspec.structs.replace(calm, inbox=(*calm.inbox, beside))
    outcomes = [keeps_expectation(always, "expect.outcome")(s) for s in (calm, cut, aside)]
    assert outcomes == [True, False, False]
    assert all(keeps_expectation(always, "a.b")(s) for s in (calm, cut, aside))


def always(scenario: Scenario) -> bool:
    """The finding is there."""
    return bool(scenario.name)


@pytest.mark.parametrize("size", range(20, 100, 3))
def test_a_secret_at_the_cut_of_a_line_is_masked(tmp_path: Path, size: int) -> None:
    secret = "e3b0c44298fc1c149afbf4c8996fb924"
    said = f"{'a ' * (size // 2)}VENDOR_KEY={secret} and more words than a line holds"
    made = msgspec.structs.replace(reduced(1), finding=Finding("a.b", said), name="small")
    write(tmp_path, made, f"pkg:agent {said}")
    assert secret[:12] not in (tmp_path / FOLDER / "test_small.py").read_text()
