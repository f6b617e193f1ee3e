"""The composition root: the standard parts of the agent, each an object or function to replace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args
from urllib.parse import quote

import msgspec

from harness.agent.agent_loop import Loop
from harness.agent.context_overflow import Compaction, Escalation, compact, saves_enough
from harness.agent.conversation.history_size import window_of
from harness.agent.conversation.projection import Projection, project, project_as_text
from harness.agent.gateway import Gateway
from harness.agent.guards import Guard, Watch, standard_guards
from harness.agent.message_reader import ReadingBrief
from harness.agent.models import ProviderModel
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.gemini_model import GeminiModel
from harness.agent.models.model_call import MAX_TOKENS, MODEL, LanguageModel
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.agent.models.openai_responses_model import OpenAIResponsesModel
from harness.agent.outgoing import Outbox
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.agent.sessions.transcript import RetryingStore, RowTranscript, SessionTranscript
from harness.agent.task_tool import BackgroundTasks, TakesIn, Tasks
from harness.agent.tool_environment import Environments, environments_of, tools_for_model
from harness.agent.toolbox import Toolbox
from harness.agent.turn_policy import BudgetedModel, Budgets, Policy
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Message, ToolSpec
from harness.core.values.profile import InboundPolicy
from harness.stores import SessionStore, open_store

NewTranscript: TypeAlias = Callable[[SessionStore, str, Projection], SessionTranscript]


@dataclass(frozen=True)
class Parts:
    """The parts of the agent.

    `guards`, `watch`, `overflow`, `transcript` and `turn` are made again for each turn, and
    `gateway` once for a run. The other parts are used directly.
    """

    model: LanguageModel
    tools: Toolbox
    store: SessionStore
    environment: Environments
    guards: Callable[[Sequence[ToolSpec]], Sequence[Guard]] = standard_guards
    watch: Callable[[Sequence[Guard]], Watch] = Watch
    overflow: Callable[[Compaction], Escalation] = Escalation
    compaction: Compaction = compact
    projection: Projection = project
    transcript: NewTranscript = RowTranscript
    turn: Callable[..., Loop] = Loop
    gateway: Callable[..., Gateway] = Gateway
    policy: Policy = Policy()
    budgets: Budgets = field(default_factory=Budgets)
    spawns: bool = False
    background: BackgroundTasks | None = None

    def loop(self, brief: Brief, inbound: Inbound, transcript: SessionTranscript) -> Loop:
        """A new loop for one message; with `spawns` it may make sub-agents, or with `background`
        such as work beside the turns."""
        outbox = Outbox(brief, inbound, float(brief.options.get("heartbeat_s", 0)))
        budget = self.budgets.open(self.policy, inbound.text, brief.clock.now_ms)
        tools = self.tools.prepared(partial(self.environment.ready, inbound.session))

        def loop_of(
            history: SessionTranscript, model: LanguageModel, tools: Toolbox, **show: Any
        ) -> Loop:
            return self.turn(
                history,
                BudgetedModel(model, budget),
                tools,
                self.watch(self.guards(tools.specs)),
                self.overflow(outbox.announced(self.compaction)),
                self.policy,
                is_cancelled=outbox.is_cancelled,
                **show,
            )

        if self.spawns or self.background is not None:
            make = partial(model_of_sub_agent, brief)
            tasks = Tasks(
                inbound.session, make, loop_of, self.policy, self.projection, self.background
            )
            tools = tasks.offered(tools)
        show = outbox.show if is_on(brief, "partial") else None
        take_in = self._take_in(brief, inbound.session, transcript)
        model = self.model
        # What the reader took may have opened a turn of another session: a request names its own.
        if isinstance(brief, ReadingBrief) and isinstance(model, ProviderModel):
            model = model.at(_url_of(brief, inbound.session))
        return loop_of(transcript, model, tools, show=show, take_in=take_in)

    def _take_in(
        self, brief: Brief, session: str, transcript: SessionTranscript
    ) -> Callable[[bool], None] | None:
        """What stores the news of a turn before a request of it; None if nothing comes."""
        sources = [self.background.take_in] if self.background is not None else []
        sources += [brief.take_in] if isinstance(brief, ReadingBrief) else []

        def take_in(is_first: bool) -> None:
            for news in sources:
                news(transcript, session, is_first)

        return take_in if sources else None


def build(brief: Brief, **parts: Any) -> Gateway:
    """Build the agent for a brief, with some parts replaced; `.run()` serves the inbox.

    With the option `inbound` it reads ahead, by that policy. Raises TypeError for a part that does
    not exist, InputError for an unknown policy.
    """
    names = [field.name for field in fields(Parts)]
    for name in parts:
        if name not in names:
            raise TypeError(f"the agent has no part {name!r}; {nearest(name, names)}")
    if policy := str(brief.options.get("inbound", "")):
        if policy not in (known := get_args(InboundPolicy)):
            raise InputError(f"no policy {policy!r}; {nearest(policy, known)}", "inbound")
        brief = cast(Brief, ReadingBrief(brief, cast(InboundPolicy, policy)))
    made: dict[str, Any] = {n: make(brief) for n, make in _STANDARD.items() if n not in parts}
    if "background" not in parts:
        made["background"] = standard_background(brief, parts.get("store") or made["store"])
    whole = Parts(**made, **parts)
    at_end = {"at_end": whole.background.join} if whole.background is not None else {}
    return whole.gateway(
        brief,
        whole.store,
        lambda session: whole.transcript(whole.store, session, whole.projection),
        partial(whole.loop, brief),
        whole.policy.max_attempts,
        **at_end,
    )


def standard_background(brief: Brief, store: SessionStore) -> BackgroundTasks | None:
    """The sub-agents in the background, by the option `background`: `queue` or `steer`."""
    takes_in = str(brief.options.get("background", ""))
    if takes_in and takes_in not in (known := get_args(TakesIn)):
        raise InputError(f"no way {takes_in!r}; {nearest(takes_in, known)}", "background")
    return BackgroundTasks(cast(TakesIn, takes_in), store) if takes_in else None


def standard_model(
    brief: Brief, adapt: Callable[[Any], Any] = lambda client: client
) -> LanguageModel:
    """The model of the brief's provider, with the options `stream`, `model`, `max_tokens` and
    `client` (`plain`: without an SDK, in process, where the model has such a client).

    `adapt` may replace the SDK's client. Raises InputError for a provider that the agent does not
    know.
    """
    make = _MODELS.get(brief.wire)
    if make is None:
        hint = nearest(brief.wire, _MODELS)
        raise InputError(f"the agent does not support the wire {brief.wire!r}; {hint}", "wire")
    return make(
        adapt(make.client_of(brief)),
        is_on(brief, "stream"),
        model_name(brief),
        int(brief.options.get("max_tokens", MAX_TOKENS)),
    )


def standard_overflow(brief: Brief) -> Callable[[Compaction], Escalation]:
    """The escalation for the window of the model in use."""
    return partial(Escalation, window_tokens=window_of(model_name(brief)))


def model_name(brief: Brief) -> str:
    """The name of the model: the option `model`, or the default of the brief's provider."""
    make = _MODELS.get(brief.wire)
    return str(brief.options.get("model", make.usual_model if make else MODEL))


def standard_projection(brief: Brief) -> Projection:
    """The projection of stored rows for the brief's provider."""
    model = _MODELS.get(brief.wire)
    return project if model is not None and not model.text_results else project_as_text


def standard_compaction(brief: Brief) -> Compaction:
    """The compaction whose savings are measured on requests to the brief's provider."""
    saves = partial(saves_enough, project=standard_projection(brief))
    return partial(compact, saves_enough=saves)


def standard_transcript(brief: Brief) -> NewTranscript:
    """The transcript in rows of the store; with the option `archive`, in an exported JSONL file."""
    archived = is_on(brief, "archive")
    return partial(ArchivedTranscript, archive_of(brief)) if archived else RowTranscript


def standard_tools(brief: Brief) -> Toolbox:
    """The tools of the brief that are for the model."""
    return Toolbox(tools_for_model(brief.tools), ask=getattr(brief, "ask", None))


def standard_environment(brief: Brief) -> Environments:
    """The environments of `terminal`, `file` and `code`, if the brief has a tool that makes
    them."""
    return environments_of(brief.tools)


def standard_store(brief: Brief) -> SessionStore:
    """The brief's store, else the one that the options `store` and `dsn` name, for the session
    folder; a SQLite file without them. With `own_store` the agent opens that one in any case.

    A new store begins with the messages of `seed.jsonl`, if the folder has one. A failed call is
    retried (`RetryingStore`).
    """
    given = None if is_on(brief, "own_store") else brief.store
    store: Any = RetryingStore(given or _own_store(brief), brief.clock.sleep)
    return store  # type: ignore[no-any-return]


def _own_store(brief: Brief) -> SessionStore:
    folder = Path(brief.session_dir)
    store = open_store(brief.options, folder)
    if (messages := seed_of(folder)) and not store.read():
        store.seed("main", messages)
    return store


def seed_of(folder: Path) -> list[Message]:
    """The messages that the session of a folder holds at the start: those of its `seed.jsonl`."""
    seed = folder / "seed.jsonl"
    lines = seed.read_bytes().split(b"\n") if seed.exists() else ()
    return [msgspec.json.decode(line, type=Message) for line in lines if line.strip()]


def is_on(brief: Brief, option: str) -> bool:
    """Whether an option is set: true, or the word for it."""
    return str(brief.options.get(option, "")).lower() in ("true", "1", "yes", "on")


def _url_of(brief: Any, session: str) -> str:
    return f"{brief.base_url}/s/{quote(session, safe='')}"


def model_of_sub_agent(brief: Brief, session: str, parent: str) -> LanguageModel:
    """The model for a sub-agent, whose requests name its session and its parent."""

    def adapt(client: Any) -> Any:
        url = f"{_url_of(brief, session)}{_MODELS[brief.wire].base_path}"
        return client.with_options(
            base_url=url, default_headers={"x-harness-parent": quote(parent)}
        )

    return standard_model(brief, adapt)


_MODELS: dict[str, type[ProviderModel]] = {
    model.api: model
    for model in (AnthropicModel, OpenAIChatModel, OpenAIResponsesModel, GeminiModel)
}
"""The providers that the agent knows, through their official clients or plain HTTP."""

_STANDARD: dict[str, Callable[[Brief], Any]] = {
    "model": standard_model,
    "overflow": standard_overflow,
    "projection": standard_projection,
    "compaction": standard_compaction,
    "tools": standard_tools,
    "store": standard_store,
    "environment": standard_environment,
    "transcript": standard_transcript,
    "spawns": partial(is_on, option="spawn"),
}
