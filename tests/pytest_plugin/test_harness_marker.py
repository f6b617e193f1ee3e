"""`@pytest.mark.harness`, the ini keys and the options: the nearest one to the test holds."""

from __future__ import annotations

import pytest

from harness.files import scenario_values
from harness.providers.anthropic import provider
from harness.runner import run

LOADED = (provider, run, scenario_values)
"""Loaded before a pytest within this one, which takes away the modules that it has loaded."""

TESTS = """
import pytest
from harness import InboxItem, Scenario, Turn
from harness.core.values.profile import Profile

TALK = Scenario(name="talk", inbox=(InboxItem(text="Hi."),), script=(Turn(say="Yes."),))

pytestmark = pytest.mark.harness(target="reference", wire="openai-chat", options={"a": 1, "b": 1})

def one(play, **named):
    (run,) = play(TALK, **named)
    return run.scenario.wire, run.scenario.stream, run.seed

def test_module(play):
    assert one(play) == ("openai-chat", False, 5)

@pytest.mark.harness(wire="openai-responses", seed=3)
class TestClass:
    def test_class(self, play):
        assert one(play) == ("openai-responses", False, 3)

    @pytest.mark.harness(stream=True)
    def test_closest(self, play):
        assert one(play) == ("openai-responses", True, 3)
        assert one(play, wire="anthropic", stream=False, seed=1) == ("anthropic", False, 1)

@pytest.mark.parametrize("wire", [
    pytest.param(wire, marks=pytest.mark.harness(wire=wire)) for wire in ("anthropic", "gemini")])
def test_parametrized(play, wire):
    assert one(play)[0] == wire

@pytest.mark.harness(options={"b": 2})
def test_options(play):
    def agent(brief):
        assert (brief.options["a"], brief.options["b"], brief.options["c"]) == (1, 2, 3)
        raise KeyError("as it is")
    (run,) = play(TALK, agent, options={"c": 3}, check=False)
    assert "as it is" in run.verdict.findings[0].message

@pytest.mark.harness(wire="anthropic", world="supervise", profile=Profile(wires=("anthropic",)))
def test_world(play):
    (run,) = play(TALK)
    assert (run.world, run.scenario.wire) == ("supervise", "anthropic")

@pytest.mark.harness(wire="gemini")
def test_fake_model(fake_model):
    import anthropic
    fake_model.says("Yes.")
    with fake_model.serve():
        with pytest.raises(anthropic.APIStatusError):
            anthropic.Anthropic(max_retries=0).messages.create(
                model="m", max_tokens=5, messages=[{"role": "user", "content": "x"}])
    assert fake_model.requests == ()
    fake_model.is_verified = True
"""
WRONG = {
    "(wrie='gemini')": "error: @pytest.mark.harness: no setting 'wrie'; did you mean 'wire'?",
    "('gemini')": "error: @pytest.mark.harness: takes keywords, as in harness(wire='openai-chat')",
    "(wire='gemni')": "@pytest.mark.harness: wire: no wire is named 'gemni'; did you mean 'gemini",
    "(stream='yes')": "@pytest.mark.harness: stream: True or False, not str 'yes'",
    "(world='real')": "@pytest.mark.harness: world: no world 'real'; known: simulate, supervise",
    "(options=[1])": "@pytest.mark.harness: options: a mapping of names to values, not list [1]",
    "(profile=3)": "@pytest.mark.harness: profile: a name, a file or a Profile, not int 3",
    "(target=3)": "@pytest.mark.harness: target: a specification or a function, not int 3",
    "(seed='x')": "@pytest.mark.harness: seed: a whole number, not str 'x'",
    "(fail_on='bad')": "@pytest.mark.harness: fail_on: no class 'bad'; known: advice, defect, w",
}
INI = {
    "harness_wire = gemni": "harness_wire: no wire is named 'gemni'; did you mean 'gemini'?",
    "harness_stream = yes": "harness_stream: true or false, not 'yes'",
    "harness_vcr = maybe": "harness_vcr: true or false, not 'maybe'",
    "harness_plugins = nope": "plug-in 'nope': cannot be imported: ModuleNotFoundError",
    "harness_fail_on = bad": "harness_fail_on: no class 'bad'; known: advice, defect, weakness",
}


@pytest.mark.real
def test_the_closest_setting_holds(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nharness_wire = gemini\naddopts = --strict-markers")
    pytester.makepyfile(test_marked=TESTS)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--harness-seed", "5")
    done.assert_outcomes(passed=8)


@pytest.mark.real
def test_the_ini_holds_where_no_marker_does(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nharness_wire = gemini\nharness_stream = true\n")
    pytester.makepyfile(
        test_ini="""
        from harness import InboxItem, Scenario, Turn
        TALK = Scenario(name="talk", inbox=(InboxItem(text="Hi."),), script=(Turn(say="Yes."),))

        def test_ini(play):
            (run,) = play(TALK)
            assert (run.name, run.target) == ("talk@openai-chat+stream", "reference")

        def test_fails(play):
            play(TALK, "naive", expect="valid_request.V4")
        """
    )
    words = ("--harness-wire", "openai-chat", "--harness-target", "reference")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", *words)
    done.assert_outcomes(passed=1, failed=1)
    again = "pytest test_ini.py::test_fails --harness-target reference --harness-wire openai-chat"
    assert f"  repeat:  {again}" in done.outlines


def test_a_wrong_marker_is_told_in_a_line(pytester: pytest.Pytester) -> None:
    tests = [
        f"@pytest.mark.harness{given}\ndef test_{n}():\n    pass\n" for n, given in enumerate(WRONG)
    ]
    pytester.makepyfile(test_marked="import pytest\n" + "\n".join(tests))
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    done.assert_outcomes(errors=len(WRONG))
    said = [line for line in done.outlines if line.startswith("error: ")]
    for line, what in zip(said, WRONG.values(), strict=True):
        assert what in line


@pytest.mark.parametrize(
    "line", [next(iter(INI)), *(pytest.param(x, marks=pytest.mark.real) for x in [*INI][1:])]
)
def test_a_wrong_ini_key_ends_the_session_with_a_line(pytester: pytest.Pytester, line: str) -> None:
    pytester.makeini(f"[pytest]\n{line}\n")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert [said for said in done.errlines if said.startswith(f"ERROR: {INI[line]}")]
