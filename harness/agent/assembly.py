"""Putting the agent together: the standard parts, and any of them replaced.

A part is a small object or a function, so that a wrong one can be handed in to see what breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from harness.agent.compaction import Compaction, compact, saves_enough
from harness.agent.environment.offered import for_the_model, offered
from harness.agent.environment.shared import Environments
from harness.agent.gateway import Gateway
from harness.agent.guards import Guard, Watch, standard_guards
from harness.agent.loop import Loop
from harness.agent.model import MAX_TOKENS, MODEL, AnthropicModel, Model
from harness.agent.openai_chat_model import OpenAIChatModel
from harness.agent.openai_responses_model import OpenAIResponsesModel
from harness.agent.outbox import Outbox
from harness.agent.overflow import Escalation, Overflow
from harness.agent.patience import PatientStore
from harness.agent.plain_client import PlainClient
from harness.agent.policy import Policy
from harness.agent.projection import Projection, project
from harness.agent.spending import PaidModel, open_account
from harness.agent.tasks import Tasks, client_for
from harness.agent.text_results import project_as_text
from harness.agent.toolbox import Toolbox
from harness.agent.transcript import RowTranscript, Transcript
from harness.agent.transcripts.archived import ArchivedTranscript
from harness.agent.transcripts.files import archive_of
from harness.agent.window import window_of
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Message, ToolSpec
from harness.stores.session_store import SessionStore
from harness.stores.store_options import open_store

NewTranscript: TypeAlias = Callable[[SessionStore, str, Projection], Transcript]


@dataclass(frozen=True)
class Parts:
    """What the agent is made of. `guards`, `watch`, `overflow`, `transcript` and `turn` are made
    anew for each turn, `gateway` once for a run; the rest is used as it is."""

    model: Model
    tools: Toolbox
    store: SessionStore
    environment: Environments
    guards: Callable[[Sequence[ToolSpec]], Sequence[Guard]] = standard_guards
    watch: Callable[[Sequence[Guard]], Watch] = Watch
    overflow: Callable[[Compaction], Overflow] = Escalation
    compaction: Compaction = compact
    projection: Projection = project
    transcript: NewTranscript = RowTranscript
    turn: Callable[..., Loop] = Loop
    gateway: Callable[..., Gateway] = Gateway
    policy: Policy = Policy()
    spawns: bool = False

    def loop(self, brief: Brief, inbound: Inbound, transcript: Transcript) -> Loop:
        """A fresh loop for one message; one that `spawns` may make sub-agents."""
        outbox = Outbox(brief, inbound, float(brief.options.get("heartbeat_s", 0)))
        account = open_account(self.policy, brief.clock.now_ms)
        tools = self.tools.prepared(partial(self.environment.ready, inbound.session))

        def loop_of(history: Transcript, model: Model, tools: Toolbox, **show: Any) -> Loop:
            return self.turn(
                history,
                PaidModel(model, account),
                tools,
                self.watch(self.guards(tools.specs)),
                self.overflow(outbox.announced(self.compaction)),
                self.policy,
                is_cancelled=outbox.is_cancelled,
                **show,
            )

        if self.spawns:
            make = partial(model_of_child, brief)
            tasks = Tasks(inbound.session, make, loop_of, self.policy, self.projection)
            tools = tasks.offered(tools)
        show = outbox.show if is_on(brief, "partial") else None
        return loop_of(transcript, self.model, tools, show=show)


def build(brief: Brief, **parts: Any) -> Gateway:
    """The agent for a brief, with some parts replaced; `.run()` serves the inbox.

    Raises TypeError for a part that does not exist.
    """
    names = [field.name for field in fields(Parts)]
    for name in parts:
        if name not in names:
            raise TypeError(f"the agent has no part {name!r}; {nearest(name, names)}")
    made: dict[str, Any] = {n: make(brief) for n, make in _STANDARD.items() if n not in parts}
    whole = Parts(**made, **parts)
    return whole.gateway(
        brief,
        whole.store,
        lambda session: whole.transcript(whole.store, session, whole.projection),
        partial(whole.loop, brief),
        whole.policy.max_attempts,
    )


def standard_model(brief: Brief, client_for: Callable[[Any], Any] = lambda client: client) -> Model:
    """The model on the brief's wire, with the options `stream`, `model`, `max_tokens` and `client`,
    which may be `plain`: no SDK and no streams, on the wire `anthropic` in process.

    `client_for` may put another client in the place of the SDK's. Raises InputError for a wire
    that the agent does not speak.
    """
    make = _MODELS.get(brief.wire)
    if make is None:
        hint = nearest(brief.wire, _MODELS)
        raise InputError(f"the agent speaks no wire {brief.wire!r}; {hint}", "wire")
    plain = brief.options.get("client") == "plain" and brief.wire == "anthropic"
    return make(
        client_for(_client(brief, plain)),
        is_on(brief, "stream") and not plain,
        str(brief.options.get("model", MODEL)),
        int(brief.options.get("max_tokens", MAX_TOKENS)),
    )


def _client(brief: Brief, plain: bool) -> Any:
    if plain:
        return PlainClient(brief.transport, brief.base_url)
    return brief.anthropic() if brief.wire == "anthropic" else brief.openai()


def standard_overflow(brief: Brief) -> Callable[[Compaction], Overflow]:
    """The escalation, which knows the window of the model that is asked."""
    return partial(Escalation, window_tokens=window_of(str(brief.options.get("model", MODEL))))


def standard_projection(brief: Brief) -> Projection:
    """What is sent of the stored rows on the brief's wire."""
    return project if brief.wire == "anthropic" else project_as_text


def standard_compaction(brief: Brief) -> Compaction:
    """A summary that saves enough of what is sent on the brief's wire."""
    saves = partial(saves_enough, project=standard_projection(brief))
    return partial(compact, saves_enough=saves)


def standard_transcript(brief: Brief) -> NewTranscript:
    """Rows of the store; with the option `archive`, exported as JSONL and told from there."""
    return (
        partial(ArchivedTranscript, archive_of(brief)) if is_on(brief, "archive") else RowTranscript
    )


def standard_tools(brief: Brief) -> Toolbox:
    """The tools of the brief that are for the model."""
    return Toolbox(for_the_model(brief.tools))


def standard_spawns(brief: Brief) -> bool:
    """Whether there are sub-agents: the option `spawn`."""
    return is_on(brief, "spawn")


def standard_environment(brief: Brief) -> Environments:
    """What `terminal`, `file` and `code` work in, if the brief has a tool that makes it."""
    return offered(brief.tools)


def standard_store(brief: Brief) -> SessionStore:
    """The brief's store, else the one that the options `store` and `dsn` name, for the session
    folder; a SQLite file without them.

    A store of our own begins with the messages of `seed.jsonl`, if the folder has one. What fails
    is tried again (`patience`).
    """
    store: Any = PatientStore(brief.store or _own_store(brief), brief.clock.sleep)
    return store  # type: ignore[no-any-return]


def _own_store(brief: Brief) -> SessionStore:
    folder = Path(brief.session_dir)
    store, seed = open_store(brief.options, folder), folder / "seed.jsonl"
    if seed.exists() and not store.read():
        lines = seed.read_bytes().split(b"\n")
        store.seed("main", [msgspec.json.decode(x, type=Message) for x in lines if x.strip()])
    return store


def is_on(brief: Brief, option: str) -> bool:
    """Whether an option is set: true, or the word for it."""
    return str(brief.options.get(option, "")).lower() in ("true", "1", "yes", "on")


def model_of_child(brief: Brief, session: str, parent: str) -> Model:
    """The model for a sub-agent, whose session names its parent."""
    return standard_model(brief, partial(client_for, brief, session, parent))


_MODELS: dict[str, Callable[[Any, bool, str, int], Model]] = {
    "anthropic": AnthropicModel,
    "openai-chat": OpenAIChatModel,
    "openai-responses": OpenAIResponsesModel,
}
"""The wires that the agent speaks, each through its official client."""

_STANDARD: dict[str, Callable[[Brief], Any]] = {
    "model": standard_model,
    "overflow": standard_overflow,
    "projection": standard_projection,
    "compaction": standard_compaction,
    "tools": standard_tools,
    "store": standard_store,
    "environment": standard_environment,
    "transcript": standard_transcript,
    "spawns": standard_spawns,
}
