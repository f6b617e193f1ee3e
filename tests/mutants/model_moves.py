"""A move to another model: wrong agents that lose something on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from examples.agents import fallback
from examples.agents.anthropic_rows import Passing, Row, calls_of, text_of
from examples.agents.careful_sync import CarefulAgent
from examples.agents.fallback import FallbackAgent, Route
from harness import Brief
from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from tests.mutants import mutant
from tests.mutants.second_model import SecondModel


class AnswersWithTheOtherProvidersReply(FallbackAgent):
    """Keeps the last answer of the second provider, and gives it while that is asked too often."""

    last: Row | None = None

    def ask_second(self, request: Row) -> Row:
        """The answer of the turn before, where there is one."""
        answer, self.last = self.last, None
        if answer is None:
            answer = self.last = super().ask_second(request)
        return answer


@mutant(
    breaks="model",
    statement="The other provider's answer to one message is kept, and given to the next one",
    scenario="second-provider-in-mid-turn/from-the-start",
    killed_by="truthful_outcome.no_answer",
    look_alike=fallback.agent,
)
def answers_with_the_other_providers_reply(brief: Brief) -> None:
    """After a failure the last words of the second provider are the answer.

    The careful agent with a second provider, and that.
    """
    AnswersWithTheOtherProvidersReply(brief).run()


class AsksWithRefusedTools(FallbackAgent):
    """Learns nothing from a refusal."""

    def ask_second(self, request: Row) -> Row:
        """Ask, and forget why it was refused."""
        try:
            return super().ask_second(request)
        finally:
            self.second_takes_tools = True


@mutant(
    breaks="model",
    statement="A fallback without tools refuses each message for them (Cinnamon/kotaemon#806)",
    scenario="second-provider-takes-no-tools",
    killed_by="no_blind_resend.same_content",
    look_alike=fallback.agent,
)
def asks_with_refused_tools(brief: Brief) -> None:
    """The second model is asked in each turn with the tools that it refused before.

    The careful agent with a second provider, and that.
    """
    AsksWithRefusedTools(brief).run()


class BringsForeignThoughtsBack(FallbackAgent):
    """Keeps the thought of an answer, and sends it with the words."""

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.thoughts: dict[str, str] = {}

    def row_of_chat(self, answer: Any) -> Row:
        """The answer; its thought is kept by its words."""
        row = super().row_of_chat(answer)
        thought = getattr(answer.choices[0].message, "reasoning_content", None)
        self.thoughts[text_of(row["content"])] = thought or "They ask for the day."
        return row

    def request(self) -> Row:
        """The request, with each thought before its words."""
        made = super().request()
        for message in made["messages"]:
            thought = self.thoughts.get(text_of(message["content"]))
            if message["role"] == "assistant" and thought and not self.route.is_away:
                block = {"type": "thinking", "thinking": thought, "signature": "b2s="}
                message["content"] = [block, *message["content"]]
        return made


@mutant(
    breaks="model",
    statement="After a time at another provider, its thoughts are sent back (hermes-agent#24401)",
    scenario="thoughts-that-come-back",
    killed_by="valid_request.V16",
    look_alike=fallback.agent,
)
def brings_foreign_thoughts_back(brief: Brief) -> None:
    """What the second provider thought goes to the first one, as if it had signed it.

    The careful agent with a second provider, and that.
    """
    BringsForeignThoughtsBack(brief).run()


class Bare(SecondModel):
    """Falls back to a request without tools."""

    def failed(
        self, failure: ModelFailure, query: Query, show: Callable[[str], None] | None
    ) -> ModelAnswer:
        """Ask again, with nothing to call."""
        return self.inner.query(msgspec.structs.replace(query, tools=()), show)


@mutant(
    breaks="model",
    statement="A fallback is offered no tools, and says so as if it were the answer (unseen, A)",
    scenario="fallback-without-tools",
    killed_by="truthful_outcome.without_tools",
)
def falls_back_without_tools(brief: Brief) -> None:
    """A failed request is sent again without its tools, and the guess is the answer.

    The reference agent with a fallback that has no tools.
    """
    build(brief, model=Bare(standard_model(brief))).run()


class MovesAndBeginsAnew(FallbackAgent):
    """Begins a new conversation with the second provider."""

    def chat_request(self, request: Row) -> Row:
        """The system text and the user's last words."""
        made = super().chat_request(request)
        first, *others = made["messages"]
        said = [message for message in others if message["role"] == "user"]
        made["messages"] = [first, said[-1]]
        return made


@mutant(
    breaks="model",
    statement="A conversation begins anew at the other provider",
    scenario="second-provider-in-mid-turn/from-a-past",
    killed_by="provider_change.past",
    look_alike=fallback.agent,
)
def moves_and_begins_anew(brief: Brief) -> None:
    """The second provider is told the newest message alone.

    The careful agent with a second provider, and that.
    """
    MovesAndBeginsAnew(brief).run()


class MovesAndNeverReturns(FallbackAgent):
    """Stays where it has moved to."""

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.route = Left()


class Left(Route):
    """A route that leaves for good."""

    def failed(self) -> None:
        """Never ask the first provider again."""
        self.away_until = float("inf")


@mutant(
    breaks="model",
    statement="One overload, and another model answers for ever (hermes-agent#51573)",
    scenario="second-provider-in-mid-turn",
    killed_by="provider_change.stays",
    look_alike=fallback.agent,
)
def moves_and_never_returns(brief: Brief) -> None:
    """The first provider is never asked again.

    The careful agent with a second provider, and that.
    """
    MovesAndNeverReturns(brief).run()


class SecondModelOfOneProvider(CarefulAgent):
    """Asks another model of the same provider while the first one is left alone."""

    def __init__(self, brief: Brief, route: Route) -> None:
        super().__init__(brief)
        self.route = route

    def ask_once(self, request: Row) -> Row:
        """One request to the model that is due."""
        if self.route.is_away:
            request = {**request, "model": "claude-haiku-4-5"}
        try:
            return super().ask_once(request)
        except Passing:
            self.route.failed()
            raise


def comes_back_to_its_model(brief: Brief) -> None:
    """The second model answers for five minutes."""
    SecondModelOfOneProvider(brief, Route()).run()


@mutant(
    breaks="model",
    statement="One overload, and the small model of the same provider answers for ever",
    scenario="second-provider-in-mid-turn",
    killed_by="provider_change.stays",
    look_alike=comes_back_to_its_model,
)
def stays_with_the_second_model(brief: Brief) -> None:
    """The first model is never asked again."""
    SecondModelOfOneProvider(brief, Left()).run()


class MovesAndPaysAgain(FallbackAgent):
    """Plays the turn again at the second provider, from its beginning."""

    def ask_second(self, request: Row) -> Row:
        """Run the calls of the turn again, and ask with their new results."""
        for message in request["messages"][self.first :]:
            for call in calls_of(message["content"]) if message["role"] == "assistant" else ():
                self.outcome({**call, "asked_id": call["id"]})
        return super().ask_second(request)


@mutant(
    breaks="model",
    statement="A move begins the turn again, with its effects (hermes-agent#117495)",
    scenario="second-provider-in-mid-turn",
    killed_by="effect_once.again",
    look_alike=fallback.agent,
)
def moves_and_pays_again(brief: Brief) -> None:
    """A turn that moves runs its calls again.

    The careful agent with a second provider, and that.
    """
    MovesAndPaysAgain(brief).run()


class MovesWithForeignBlocks(FallbackAgent):
    """Changes the address, and not the form."""

    def chat_request(self, request: Row) -> Row:
        """The messages of the other API."""
        made = super().chat_request(request)
        return {**made, "messages": [made["messages"][0], *request["messages"]]}


@mutant(
    breaks="model",
    statement="Blocks of one API are sent to another (qwen-code#3304)",
    scenario="second-provider-in-mid-turn",
    killed_by="valid_request.C16",
    look_alike=fallback.agent,
)
def moves_with_foreign_blocks(brief: Brief) -> None:
    """The second provider gets the blocks of the first one as they are.

    The careful agent with a second provider, and that.
    """
    MovesWithForeignBlocks(brief).run()


class MovesWithTheOldModelsName(FallbackAgent):
    """Changes the address, and not the model."""

    def chat_request(self, request: Row) -> Row:
        """The request of the other API, for the same model."""
        return {**super().chat_request(request), "model": request["model"]}


@mutant(
    breaks="model",
    statement="The name of a model goes to a provider without it (hermes-agent#112121)",
    scenario="second-provider-lacks-the-model",
    killed_by="provider_change.model",
    look_alike=fallback.agent,
)
def moves_with_the_old_models_name(brief: Brief) -> None:
    """The second provider is asked for the first one's model.

    The careful agent with a second provider, and that.
    """
    MovesWithTheOldModelsName(brief).run()


class MovesWithoutTheNewestMessage(FallbackAgent):
    """Writes the request from what was there before the turn."""

    def chat_request(self, request: Row) -> Row:
        """All but the last message of the user."""
        made = super().chat_request(request)
        users = [n for n, m in enumerate(made["messages"]) if m["role"] == "user"]
        made["messages"].pop(users[-1])
        return made


@mutant(
    breaks="model",
    statement="The newest message stays behind when a conversation moves",
    scenario="second-provider-in-mid-turn",
    killed_by="provider_change.message",
    look_alike=fallback.agent,
)
def moves_without_the_newest_message(brief: Brief) -> None:
    """The second provider is asked without the user's newest message.

    The careful agent with a second provider, and that.
    """
    MovesWithoutTheNewestMessage(brief).run()


class MovesWithoutTheSystemText(FallbackAgent):
    """Takes the messages alone along."""

    def chat_request(self, request: Row) -> Row:
        """All but the system text."""
        made = super().chat_request(request)
        return {**made, "messages": made["messages"][1:]}


@mutant(
    breaks="model",
    statement="The system text stays behind when a conversation moves",
    scenario="second-provider-in-mid-turn",
    killed_by="provider_change.system",
    look_alike=fallback.agent,
)
def moves_without_the_system_text(brief: Brief) -> None:
    """The second provider is asked without the system text.

    The careful agent with a second provider, and that.
    """
    MovesWithoutTheSystemText(brief).run()


class MovesWithoutTheResults(FallbackAgent):
    """Carries words alone to the second provider."""

    def chat_request(self, request: Row) -> Row:
        """No calls, no results."""
        made = super().chat_request(request)
        made["messages"] = [
            message
            for message in made["messages"]
            if message["role"] != "tool" and not message.get("tool_calls")
        ]
        return made


@mutant(
    breaks="model",
    statement="Calls and results stay behind, so that the other model calls again",
    scenario="second-provider-in-mid-turn",
    killed_by="history_faithful.forgotten_result",
    look_alike=fallback.agent,
)
def moves_without_the_results(brief: Brief) -> None:
    """The second provider is asked without the calls of the turn and their results.

    The careful agent with a second provider, and that.
    """
    MovesWithoutTheResults(brief).run()
