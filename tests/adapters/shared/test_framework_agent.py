"""What an object is, by its class alone, and what is declared of it."""

from __future__ import annotations

import asyncio
import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest

import harness.adapters
from harness.adapters.shared.framework_agent import (
    LACKS,
    FrameworkAgent,
    adapted,
    agent_of,
    answer_of,
    converse,
    frameworks,
    may_run,
    with_pictures,
)
from harness.core.values.brief import ToolError
from harness.core.values.errors import InputError
from harness.core.values.profile import Capabilities, Profile, ProfileLimits
from harness.targets import of_callable, resolve


def _object(module: str, name: str) -> Any:
    """An object whose class inherits one of that name, as a framework's subclass does."""
    parent = type(name, (), {"__module__": module, "model": None, "tools": {}})
    return type("Mine", (parent,), {})()


CANCELLED = msgspec.structs.replace(LACKS, cancel=None)
"""What an agent lacks that a cancel may stop."""


@pytest.mark.parametrize(
    ("module", "name", "framework", "lacks"),
    [
        ("pydantic_ai.agent.abstract", "AbstractAgent", "pydantic_ai", CANCELLED),
        ("agents.agent", "Agent", "openai_agents", CANCELLED),
        ("langgraph.pregel.main", "Pregel", "langgraph", CANCELLED),
        ("langgraph.pregel", "Pregel", "langgraph", CANCELLED),
        ("smolagents.agents", "ToolCallingAgent", "smolagents", LACKS),
    ],
)
def test_an_object_is_known_by_a_class_of_its_type(
    module: str, name: str, framework: str, lacks: Capabilities
) -> None:
    before = set(sys.modules)
    found = agent_of(_object(module, name))
    assert found is not None
    assert found.framework == framework
    assert found.profile.capabilities == lacks
    assert not {m.partition(".")[0] for m in set(sys.modules) - before} & {module.partition(".")[0]}


@pytest.mark.parametrize(
    ("module", "name", "framework"),
    [
        ("google.adk.agents.llm_agent", "LlmAgent", "google_adk"),
        ("google.adk.apps.app", "App", "google_adk"),
        ("agent_framework._agents", "RawAgent", "agent_framework"),
        ("strands.agent.agent", "Agent", "strands"),
        ("agno.agent.agent", "Agent", "agno"),
        ("llama_index.core.agent.workflow.function_agent", "FunctionAgent", "llama_index"),
    ],
)
def test_an_agent_that_can_be_cancelled_is_asked_to(module: str, name: str, framework: str) -> None:
    found = agent_of(_object(module, name))
    assert found is not None
    assert found.framework == framework
    assert found.profile.capabilities == msgspec.structs.replace(LACKS, cancel=None)


@pytest.mark.parametrize(
    ("compacts", "compaction", "checks"),
    [(None, False, {}), (0, None, {}), (200, None, {"compaction_due": {"tokens": 200}})],
)
def test_an_agent_that_makes_summaries_says_from_which_size_on(
    compacts: int | None, compaction: bool | None, checks: dict[str, Any]
) -> None:
    profile = adapted("agno", len, None, compacts=compacts).profile
    assert (profile.capabilities.compaction, profile.checks) == (compaction, checks)
    assert "compact" in profile.purposes.values()


class _Phone:
    """A brief of one message, which keeps what is sent, and a user who answers a question."""

    def __init__(self, answer: Any = None) -> None:
        self.answer, self.sent = answer, list[tuple[str, Any]]()

    def inbox(self) -> list[Any]:
        return [SimpleNamespace(id="m1", session="main", text="Hello.")]

    def send(self, text: str, kind: str = "final", **where: Any) -> None:
        self.sent.append((text, where.get("status", kind)))

    async def ask_async(self, name: str, input: Any, *, id: str, session: str) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("said", "sent"), [("Hi.", ("Hi.", "final")), (None, ("Cancelled.", "cancelled"))]
)
def test_a_turn_without_words_has_been_cancelled(said: str | None, sent: tuple[str, str]) -> None:
    async def answer(message: Any) -> str | None:
        return said

    phone = _Phone()
    asyncio.run(converse(phone, answer, lambda error: None))
    assert phone.sent == [sent]


@pytest.mark.parametrize(
    ("answer", "id", "input", "allowed"),
    [
        ("allow", "c1", {"sum": 5}, True),
        ("deny", "c1", {"sum": 5}, False),
        ("allow", "c2", {"sum": 5}, False),
        ("allow", "c1", {"sum": 6}, False),
    ],
)
def test_a_call_may_run_just_as_it_was_allowed(
    answer: str, id: str, input: Any, allowed: bool
) -> None:
    phone = _Phone(SimpleNamespace(answer=answer, id=id, input=input))
    asked = may_run(phone, "pay", {"sum": 5}, id="c1", session="main")
    assert asyncio.run(asked) is allowed


def test_a_channel_that_does_not_answer_allows_nothing_and_an_error_of_ours_goes_on() -> None:
    silent = _Phone(TimeoutError("the channel to the user does not answer"))
    assert asyncio.run(may_run(silent, "pay", {}, id="c1", session="main")) is False
    with pytest.raises(TypeError):
        asyncio.run(may_run(_Phone(TypeError()), "pay", {}, id="c1", session="main"))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("agents", "Agent"),
        ("agents.agentic", "Agent"),
        ("pydantic_ai_mine", "AbstractAgent"),
        ("smolagents.agents", "CodeAgent"),
        ("my_app", "ToolCallingAgent"),
    ],
)
def test_a_class_of_the_same_name_elsewhere_is_another(module: str, name: str) -> None:
    assert agent_of(_object(module, name)) is None


def _with_brief(brief: Any) -> None: ...
def _with_text(text: str) -> str: ...
async def _slow(text: str, session: str) -> str: ...
def _with_nothing() -> str: ...


class _Bot:
    def answer(self, text: str) -> str: ...


def test_a_function_of_a_text_is_known_by_its_annotation() -> None:
    known = [_with_brief, _with_text, _slow, _with_nothing, _Bot().answer, _Bot.answer, len, str]
    found = [agent_of(each) is not None for each in known]
    assert found == [False, True, True, False, True, False, False, False]


def test_what_is_no_agent_is_told_in_one_line() -> None:
    with pytest.raises(InputError) as caught:
        of_callable(_object("my_app", "Robot"))
    said = str(caught.value)
    assert "not an agent, but of the class" in said
    assert "pydantic-ai" in said
    assert "docs/adapters.md" in said
    assert "\n" not in said


def test_a_named_object_brings_its_options_and_its_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("app_of_text")
    module.__dict__["answer"] = _with_text
    monkeypatch.setitem(sys.modules, "app_of_text", module)
    found = resolve("app_of_text:answer?mount=http://127.0.0.1:9/x")
    assert isinstance(found.agent, FrameworkAgent)
    assert found.isolate
    assert found.options == {"mount": "http://127.0.0.1:9/x"}
    assert found.profile.capabilities == LACKS
    assert not of_callable(_with_text).isolate


def test_each_row_names_its_adapter_and_the_page_names_each_row() -> None:
    page = (Path(__file__).parents[3] / "docs" / "adapters.md").read_text("utf-8")
    for name, row in frameworks().items():
        module = importlib.import_module(row.file)
        assert getattr(harness.adapters, name) is getattr(module, row.adapter), name
        assert f"`{name}`" in page, name
        for tried in filter(None, row.tried.split(", ")):
            assert tried in page, name


def test_the_versions_are_those_that_are_installed_to_be_played() -> None:
    text = (Path(__file__).parents[2] / "field" / "targets.toml").read_text("utf-8")
    packages = {p for row in tomllib.loads(text).values() for p in row.get("packages", ())}
    installed = {
        p.replace("-slim", "").partition("[")[0].partition("==")[0] + " " + p.rpartition("=")[2]
        for p in packages
    }
    for name, row in frameworks().items():
        if row.tried and name != "langgraph":
            assert row.tried in installed, name


def test_a_profile_is_completed_where_it_says_nothing() -> None:
    known = Profile(
        wires=("anthropic",),
        gives_up_after=2,
        capabilities=Capabilities(session=False, cancel=False),
        limits=ProfileLimits(real_s=120),
    )
    own = Profile(
        wires=("gemini",),
        capabilities=Capabilities(cancel=True, store=False),
        limits=ProfileLimits(memory_mb=10),
    )
    assert own.completed_by(known) == Profile(
        wires=("gemini",),
        gives_up_after=2,
        capabilities=Capabilities(session=False, cancel=True, store=False),
        limits=ProfileLimits(real_s=120, memory_mb=10),
    )
    assert own.completed_by(Profile()) is own
    assert Profile().completed_by(known) == known


@pytest.mark.parametrize("given", [["17"], "17", None, '{"bill": "1'])
def test_a_tool_takes_an_object_and_tells_the_model_of_any_other_input(given: Any) -> None:
    called: list[Any] = []
    tool = SimpleNamespace(call=lambda given, id: called.append(given) or "paid")
    assert answer_of(tool, {"bill": "17"}) == "paid"
    with pytest.raises(ToolError, match="not a JSON object"):
        answer_of(tool, given)
    assert called == [{"bill": "17"}]


def test_a_picture_of_a_tool_is_one_of_the_framework() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}
    shot, words = {"type": "image", "source": source}, {"type": "text", "text": "a cat"}
    made = with_pictures([shot, words], lambda data, kind: (data, kind), str.upper)
    assert made == [(b"\x89PNG\r", "image/png"), "A CAT"]
    for said in ("a cat", [words], [], {"image": shot}):
        assert with_pictures(said, lambda data, kind: (data, kind)) is said
