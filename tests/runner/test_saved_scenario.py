"""A test that is saved as a scenario: read and played again, it is the same story."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import pytest

from harness import FakeModel, InputError, load_scenarios, run
from tests.runner.test_fake_model import by_anthropic, by_openai

SDKS = pytest.mark.parametrize("app", [by_anthropic, by_openai])
STREAMS = pytest.mark.parametrize("stream", [False, True])


def _saved(
    fake: FakeModel, folder: Path, texts: list[str], app: Callable[..., str] = by_anthropic,
    stream: bool = False,
) -> dict[str, Any]:  # fmt: skip
    fake.folder = folder
    with fake, fake.serve():
        for text in texts:
            app(text, stream)
        file = fake.save("saved-test.yaml")
    (scenario,) = load_scenarios(file)
    played = run(scenario, "reference")
    assert played.verdict.verdict == "pass", played.verdict
    asked = [e.node.messages[-1].text for e in played.history.trace.exchanges]
    statuses = [e.status for e in played.history.trace.exchanges]
    return {"scenario": scenario, "asked": asked, "statuses": statuses}


@SDKS
@STREAMS
def test_a_test_with_tools_and_faults_is_played_by_an_agent(
    app: Callable[..., str], stream: bool, tmp_path: Path
) -> None:
    fake = FakeModel().says("Let me see.").calls("book", {"seats": 4})
    fake.fails(500).says("Booked.")
    made = _saved(fake, tmp_path, ["A table, please"], app, stream)
    scenario = made["scenario"]
    assert [item.text for item in scenario.inbox] == ["A table, please"]
    assert scenario.stream is stream
    assert scenario.tools["book"].script[0].ok == "ok"
    assert scenario.tools["book"].input_schema["properties"] == {"seats": {"type": "integer"}}
    assert [(f.kind, f.when, f.settings) for f in scenario.faults] == [
        ("http.status", 2, {"status": 500})
    ]
    assert made["statuses"] == [200, 500, 200]


def test_questions_one_after_the_other_are_conversations_and_equal_ones_too(tmp_path: Path) -> None:
    fake = FakeModel().says("One.").says("Two.").says("Three.")
    made = _saved(fake, tmp_path, ["Who?", "Who?", "Where?"])
    assert made["asked"] == ["Who?", "Who?", "Where?"]
    sessions = [item.session for item in made["scenario"].inbox]
    assert sessions == ["main", "chat-2", "chat-3"]


def test_a_conversation_goes_on_and_what_stood_before_it_is_stored(tmp_path: Path) -> None:
    fake = FakeModel().says("One.").says("Two.")
    client = anthropic.Anthropic(
        api_key="k", http_client=anthropic.DefaultHttpxClient(transport=fake.transport())
    )
    said = ["Hello", "Good morning.", "And now?", "One.", "And then?"]
    messages: Any = [
        {"role": "assistant" if n % 2 else "user", "content": t} for n, t in enumerate(said)
    ]
    for length in (3, 5):
        client.messages.create(model="claude-sonnet-5", max_tokens=9, messages=messages[:length])
    (scenario,) = load_scenarios(fake.save(tmp_path / "goes-on.yaml"))
    assert [item.text for item in scenario.inbox] == ["And now?", "And then?"]
    assert [message.content for message in scenario.session.messages] == said[:2]
    assert run(scenario, "reference").verdict.verdict == "pass"


def test_a_fault_that_repeats_and_one_behind_the_last_answer_keep_their_places(
    tmp_path: Path,
) -> None:
    fake = FakeModel().fails(529, retry_after=0).times(2).says("Here.").fails(400)
    with fake.serve():
        by_anthropic("?", False, max_retries=2)
        with pytest.raises(anthropic.BadRequestError):
            by_anthropic("Again?", False)
    (scenario,) = load_scenarios(fake.save(tmp_path / "places.yaml"))
    places = [fault.when for fault in scenario.faults]
    assert [list(p) if not isinstance(p, int) else p for p in places] == [[1, 2], 4]
    assert scenario.script[-1].optional


def test_the_same_test_saves_the_same_file_and_another_one_does_not_replace_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "scenario.schema.json").write_text("{}")
    for _ in range(2):
        _saved(FakeModel().says("One."), tmp_path, ["Who?"])
    text = (tmp_path / "saved-test.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=scenario.schema.json\n")
    with pytest.raises(InputError, match="it differs from this test"):
        _saved(FakeModel().says("Two."), tmp_path, ["Who?"])
    assert (tmp_path / "saved-test.yaml").read_text() == text


def test_what_cannot_be_told_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no request reached"):
        FakeModel().says("One.").save(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="by `when` have no one order"):
        _saved(FakeModel().when("Who").says("One."), tmp_path, ["Who?"])
    fake = FakeModel().says("One.")
    with fake.serve():
        by_anthropic("Who?", False)
    for name, why in (("a.yml", r"ends in \.yaml"), ("No Name.yaml", "name")):
        with pytest.raises(InputError, match=why):
            fake.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
