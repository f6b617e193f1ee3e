"""What a request says to the model: wrong agents that change or lose a part of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import httpx2
import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.gateway import Gateway
from harness.agent.models.anthropic_blocks import read_block, write_message
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import (
    MODEL,
    LanguageModel,
    ModelAnswer,
    Query,
    answer_of,
    respelt,
)
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.agent.models.openai_responses_model import OpenAIResponsesModel
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Text,
    Thinking,
    ToolUse,
    assistant,
    user,
)
from tests.mutants import mutant
from tests.mutants.early import Early
from tests.mutants.second_model import SecondModel, Show, build_with, with_blocks


class Unruly(AnthropicModel):
    """Says the rules only until the first summary."""

    compacted = False

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer, without the rules."""
        if query.purpose == "compact":
            self.compacted = True
        elif self.compacted:
            query = msgspec.structs.replace(query, system="Go on.")
        return super().query(query, show)


@mutant(
    breaks="model",
    statement="The rules of the system text do not outlive a compaction",
    scenario="in-good-time",
    killed_by="compaction_preserves.rules",
)
def compacts_the_rules(brief: Brief) -> None:
    """After a compaction the system text is another one: the rules were pinned nowhere.

    The reference agent whose rules are forgotten.
    """
    build(brief, turn=Early, model=Unruly(brief.anthropic(), stream=False)).run()


class TextAlone(SecondModel):
    """Keeps what a thought says."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer with bare thoughts."""
        return with_blocks(answer, bare)


def bare(block: Block) -> Block:
    """A thought without what only its provider reads."""
    return Thinking(block.text) if isinstance(block, Thinking) else block


@mutant(
    breaks="model",
    statement="Thinking goes back with an empty signature (kaitranntt/ccs #415, strangers 2)",
    scenario="signature-lost",
    killed_by="valid_request.V16",
)
def forgets_signatures(brief: Brief) -> None:
    """A thought is kept as its text: the signature that came with it is left behind.

    The reference agent without signatures.
    """
    build_with(TextAlone, brief)


class CallsAlone(SecondModel):
    """Drops the words beside calls."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, without its words if it calls a tool."""
        if not answer.message.tool_uses:
            return answer
        kept = tuple(b for b in answer.message.blocks if not isinstance(b, Text))
        return msgspec.structs.replace(answer, message=Message("assistant", kept))


@mutant(
    breaks="model",
    statement="The content beside `tool_calls` is sent back as null, and the words are lost",
    scenario="end-told-beside-a-call",
    killed_by="history_faithful.forgotten_words",
)
def keeps_calls_without_their_words(brief: Brief) -> None:
    """Of an answer with words and calls only the calls are kept.

    The reference agent that keeps calls alone.
    """
    build(brief, model=CallsAlone(standard_model(brief))).run()


@mutant(
    breaks="model",
    statement="A memory of the users is shown to all of them (seed 14)",
    scenario="words-of-another-user",
    killed_by="session_isolation.system",
)
def one_memory_in_the_system_text(brief: Brief) -> None:
    """The system text of a session holds what the users of the others have told.

    The reference agent with one memory, which each session reads when it begins.
    """
    model, said, notes = standard_model(brief), list[str](), dict[str, str]()
    now = [""]

    class Remembering(Gateway):
        def receive(self, inbound: Inbound) -> None:
            now[0] = inbound.session
            notes.setdefault(inbound.session, "\n".join(["Notes:", *said]))
            said.append(inbound.text)
            super().receive(inbound)

    class Noted:
        def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
            system = f"{query.system}\n{notes[now[0]]}"
            return model.query(msgspec.structs.replace(query, system=system), show)

    build(brief, gateway=Remembering, model=Noted()).run()


class Hopeful(SecondModel):
    """Speaks for the model after a call."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Say that the call has worked."""
        after_a_call = query.messages[-1].tool_results and not answer.message.tool_uses
        return ModelAnswer(assistant("Order 17 is paid."), answer.stop) if after_a_call else answer


@mutant(
    breaks="model",
    statement="A write that failed is reported as done (NousResearch/hermes-agent#35151)",
    scenario="failure-looks-like-success/raises",
    killed_by="error_visible.claimed",
)
def reports_the_plan_as_done(brief: Brief) -> None:
    """What the model asked a tool to do is reported as done, against the tool's result.

    The reference agent that believes in its plans.
    """
    build_with(Hopeful, brief)


class Plain:
    """Asks the provider without an SDK. The store cannot hold the half: U+FFFD stands for it."""

    def __init__(self, brief: Brief) -> None:
        self._http = httpx2.Client(transport=brief.transport, base_url=brief.base_url)

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The model's answer; earlier ones are sent back in the very words."""
        messages = [write_message(message) for message in query.messages]
        tools = [msgspec.to_builtins(tool) for tool in query.tools]
        body = {"model": MODEL, "max_tokens": 1000, "messages": messages, "tools": tools}
        written = json.dumps(body).replace("\\ufffd", "\\ud83d")
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
        response = self._http.post("/v1/messages", content=written.encode(), headers=headers)
        value = response.json()
        if response.status_code >= 400:
            raise ModelFailure("permanent", value["error"]["message"])
        return answer_of([read_block(block) for block in value["content"]], value["stop_reason"])


@mutant(
    breaks="model",
    statement="A lone surrogate makes every later body invalid (incidents 25; claude-code #86560)",
    scenario="half-an-emoji",
    killed_by="wellformed_text.request",
)
def sends_half_a_character(brief: Brief) -> None:
    """Requests are written with `json.dumps`, which escapes half an emoji silently.

    The reference agent that writes its requests itself.
    """
    build(brief, model=Plain(brief)).run()


class Chat(OpenAIChatModel):
    """Sends names unchanged over Chat Completions."""

    def _params(self, query: Query) -> dict[str, Any]:
        return unchanged(super()._params(query), query)


class Responses(OpenAIResponsesModel):
    """Sends names unchanged over Responses."""

    def _params(self, query: Query) -> dict[str, Any]:
        return unchanged(super()._params(query), query)


def unchanged(params: dict[str, Any], query: Query) -> dict[str, Any]:
    """The parameters with the names that the model gave."""
    named = {respelt(c.name): c.name for message in query.messages for c in message.tool_uses}
    return {**params, "extra_body": _renamed(params["extra_body"], named)}


def _renamed(value: Json, named: dict[str, str]) -> Json:
    if isinstance(value, list):
        return [_renamed(each, named) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _renamed(each, named) for key, each in value.items()}
    return {**inner, "name": named.get(inner["name"], inner["name"])} if "name" in inner else inner


@mutant(
    breaks="model",
    statement="A name with a dot is stored, and each later request is refused (codex#24369)",
    scenario="codex-name-sent-back@openai-responses+stream",
    killed_by="valid_request",
)
def sends_names_as_they_came(brief: Brief) -> None:
    """A tool name that no API takes goes back to the model as it came.

    The reference agent that sends names as they came.
    """
    model = Responses if brief.wire == "openai-responses" else Chat
    build(brief, model=model(brief.openai(), stream=bool(brief.options.get("stream")))).run()


class Continued(SecondModel):
    """Asks the model to go on after its limit, and forgets what it had said."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, or the rest of it."""
        if answer.stop != "max_tokens":
            return answer
        messages = (*query.messages, answer.message, user("Please go on where you stopped."))
        return self.inner.query(msgspec.structs.replace(query, messages=messages))


@mutant(
    breaks="model",
    statement="The user reads the end of an answer that was continued, without its beginning",
    scenario="reply-as-the-model-said-it/truncated-and-continued",
    killed_by="reply_carried.continuation",
)
def sends_the_continuation(brief: Brief) -> None:
    """A truncated answer is continued, and the continuation is taken for the answer.

    The reference agent that sends the rest of a truncated answer alone.
    """
    build_with(Continued, brief)


class Shuffling(SecondModel):
    """Turns the list of tools round with each query."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._asked = count()

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer to a query with the tools in another order."""
        tools = query.tools if next(self._asked) % 2 else query.tools[::-1]
        return super().query(msgspec.structs.replace(query, tools=tools), show)


@mutant(
    breaks="model",
    statement="Tools in another order make the provider read the whole prompt again (invariant 8)",
    scenario="circle-of-three/patient-wait",
    killed_by="append_only_prefix.tools",
)
def shuffles_tools(brief: Brief) -> None:
    """The tools come out of a set, so every second request offers them in another order.

    The reference agent that shuffles its tools.
    """
    build_with(Shuffling, brief)


VALUES = {"null": None, "none": None, "true": True, "false": False}


class Converting(SecondModel):
    """Reads words as values."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer with other arguments."""
        return with_blocks(answer, converted)


def converted(block: Block) -> Block:
    """A call with values in place of words."""
    if not isinstance(block, ToolUse) or not isinstance(block.input, dict):
        return block
    given = {key: VALUES.get(str(value).lower(), value) for key, value in block.input.items()}
    return msgspec.structs.replace(block, input=given)


@mutant(
    breaks="model",
    statement="A person called Null loses the name on the way to the tool (fault M6)",
    scenario="agno-words-become-values@openai-chat",
    killed_by="args_complete.changed",
)
def words_become_values(brief: Brief) -> None:
    """The texts null, none, true and false in arguments become values.

    The reference agent that reads words as values.
    """
    build_with(Converting, brief)


class LooseOffer(SecondModel):
    """Offers each tool with inputs that may all be left out."""

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer to a looser offer."""
        tools = tuple(
            msgspec.structs.replace(t, input_schema={**t.input_schema, "required": []})
            for t in query.tools
        )
        return super().query(msgspec.structs.replace(query, tools=tools), show)


@mutant(
    breaks="model",
    statement="A conversion of schemas loses `required` (leehack/mcp_dart#33)",
    scenario="circles",
    killed_by="args_complete.optional",
)
def offers_all_inputs_as_optional(brief: Brief) -> None:
    """The model reads that it may leave out what the tool requires.

    The reference agent with such an offer.
    """
    build_with(LooseOffer, brief)
