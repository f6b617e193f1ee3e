"""The fixture `fake_model`, in its own pytest."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from harness.cli.verbs import harness as verbs
from harness.providers.anthropic import provider
from harness.runner import fake_model
from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.documents import ROOT, blocks

LOADED = (provider, fake_model)
"""Loaded before a pytest within this one, which takes away the modules that it has loaded."""

TESTS = """
import anthropic

def answer(text):
    reply = anthropic.Anthropic(max_retries=0).messages.create(
        model="claude-sonnet-5", max_tokens=9, messages=[{"role": "user", "content": text}])
    return reply.content[0].text

def test_good(fake_model):
    with fake_model.says("Yes.").serve():
        assert answer("?") == "Yes."
    assert fake_model.requests[0].messages[0].text == "?"

def test_unplayed(fake_model):
    with fake_model.says("Yes.").says("No.").serve():
        answer("?")

def test_illegal(fake_model):
    with fake_model.says("Yes.").serve():
        try:
            answer("")
        except anthropic.BadRequestError:
            pass

def test_illegal_and_raised(fake_model):
    with fake_model.says("Yes.").serve():
        answer("")

def test_never_asked(fake_model):
    fake_model.says("Yes.")

def test_not_used(fake_model):
    pass

def test_own_failure(fake_model):
    fake_model.says("Yes.").says("No.")
    assert 1 == 2

def test_verified(fake_model):
    from pytest import raises
    from harness import NotAsScripted
    with raises(NotAsScripted):
        fake_model.says("Yes.").verify()

def test_misspelt(fake_model):
    fake_model.fault("http.stauts")
"""


def test_a_test_fails_by_what_its_model_saw(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)  # with it pytest prints each message a second time
    pytester.makepyfile(test_app=TESTS)
    made = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--harness-out", "kept")
    made.assert_outcomes(passed=3, failed=6)
    said = made.stdout.str()
    assert "never played: script turn 2 (say 'No.')" in said
    assert "valid_request." in said
    assert "no request reached the fake model: build the client inside" in said
    assert "fault 'http.stauts': unknown; did you mean 'http.status'" in said
    assert [line for line in said.splitlines() if "assert 1 == 2" in line]
    assert said.count("\n  in test_") == 3
    assert "Captured fake_model call" in said
    assert "repeat:  pytest test_app.py::test_unplayed --harness" not in said
    assert "  repeat:  pytest test_app.py::test_unplayed\n" in said
    assert (pytester.path / "kept/test_app.py/test_good/test_good/baseline/history.jsonl").is_file()


def test_a_fixture_of_that_name_may_be_the_users_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_app="""
        import pytest

        @pytest.fixture
        def fake_model():
            return {"is_owed": True}

        def test_mine(fake_model):
            assert fake_model
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


SAVED = """
import anthropic

def answer(text):
    reply = anthropic.Anthropic(max_retries=1).messages.create(
        model="claude-sonnet-5", max_tokens=9, messages=[{"role": "user", "content": text}])
    return reply.content[0].text

def test_saves(fake_model):
    with fake_model.fails(529, retry_after=0).says("Yes.").serve():
        assert answer("Ready?") == "Yes."
    fake_model.save("scenarios/ready.yaml")

def test_replays(fake_model):
    with fake_model.cassette("recorded.yaml").serve():
        assert answer("One") == "One!"

def test_replays_and_asks_otherwise(fake_model):
    with fake_model.cassette("recorded.yaml").serve():
        answer("Two")
"""


def test_a_test_plays_a_recording_or_becomes_a_scenario(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_app=SAVED)
    asked = {**ASK, "max_tokens": 9, "messages": [{"role": "user", "content": "One"}]}
    asked["model"] = "claude-sonnet-5"
    asked.pop("tools", None)
    recorded = cassette(interaction(asked, said("One!")))
    (pytester.path / "recorded.yaml").write_bytes(recorded)
    made = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    made.assert_outcomes(passed=2, failed=1)
    made.stdout.fnmatch_lines(["*no recorded exchange matches*Two*"])
    played = CliRunner().invoke(verbs, ["run", "scenarios/ready.yaml", "--target", "reference"])
    assert played.exit_code == 0, played.output


def test_the_page_runs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_page="\n".join(blocks(ROOT / "docs/fake-model.md", "python")))
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)
