"""Agents with a reader thread that lose, delay or mix up what comes while they work.

`Reading` is right under each policy. Each wrong agent is a form of it with one other step. The
table names them with the policy that they claim, so a run judges them by that.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from pathlib import Path

from harness.agent.composition import seed_of, standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import Query
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, Text, ToolUse, results
from harness.core.values.profile import InboundPolicy, Profile
from harness.targets import TargetSpec

SUMMARISE = "Summarise the conversation so far."


class Reader:
    """What a reader thread has taken, and the worker has not looked at."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.taken: queue.Queue[Inbound | None] = queue.Queue()
        self.left: list[Inbound | None] = []

    def read(self) -> None:
        """Take each message as it comes."""
        for message in self.brief.inbox():
            self.taken.put(message)
        self.taken.put(None)

    def following(self) -> Inbound | None:
        """The next message that nothing has looked at; None at the end."""
        return self.left.pop(0) if self.left else self.taken.get()

    def came(self) -> list[Inbound]:
        """What has come since the last look. The end of the inbox stays for `following`."""
        while not self.taken.empty():
            self.left.append(self.taken.get())
        more = [message for message in self.left if message is not None]
        self.left = [message for message in self.left if message is None]
        return more


class Reading(Reader):
    """A reader that takes messages at any time, and a worker that looks between two steps."""

    policy: InboundPolicy = "queue"

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.model, self.toolbox = standard_model(brief), Toolbox(brief.tools)
        self.history: list[Message] = seed_of(Path(brief.session_dir))

    def run(self) -> None:
        """Read in a thread, and work until the inbox has ended."""
        reader = threading.Thread(target=self.read)
        reader.start()
        while (message := self.following()) is not None:
            self.turn([message, *(self.came() if self.policy == "collect" else ())])
        reader.join()

    def turn(self, messages: list[Inbound]) -> None:
        """Work on messages until an answer calls no tool, or the model fails for good."""
        self.add([Text(message.text) for message in messages])
        try:
            self.steps(messages)
        except ModelFailure as failure:
            self.failed(messages, failure)

    def steps(self, messages: list[Inbound]) -> None:
        """Ask the model and run its calls, until an answer calls no tool."""
        while True:
            if self.brief.cancelled():
                return self.stopped(messages)
            said = self.asked()
            if said is None:
                self.shorten()
            elif not said.tool_uses:
                return self.answered(messages, said.text)
            for call in said.tool_uses if said else ():
                self.worked(call)
            if not self.goes_on(messages):
                return None

    def add(self, blocks: Sequence[Text]) -> None:
        """Add words of the user to the newest message, or as a new one."""
        if self.history and self.history[-1].role == "user":
            blocks = (*self.history.pop().blocks, *blocks)  # type: ignore[assignment]
        self.history.append(Message("user", tuple(blocks)))

    def asked(self) -> Message | None:
        """The model's next answer; None if the conversation is too long for it."""
        try:
            said = self.model.query(Query(tuple(self.history), self.toolbox.specs)).message
        except ModelFailure as failure:
            if failure.kind != "overflow":
                raise
            return None
        self.history.append(said)
        return said

    def shorten(self) -> None:
        """Replace all but the newest exchange with a summary. A call stays with its result, and
        the user's words stand in the message of the summary: the roles alternate."""
        *old, newest = self.history
        if newest.tool_results:
            *old, called = old
            self.history = [self.summed_up(old), called, newest]
        else:
            summary = self.summed_up(old)
            self.history = [Message("user", (*summary.blocks, *newest.blocks))]

    def summed_up(self, old: list[Message]) -> Message:
        """The user's first words, and a summary of what followed."""
        asked = [*old, Message("user", (Text(SUMMARISE),))]
        if old[-1].role == "user":
            asked[-2:] = [Message("user", (*old[-1].blocks, Text(SUMMARISE)))]
        summary = self.model.query(Query(tuple(asked), purpose="compact")).message.text
        return Message("user", (*old[0].blocks, Text(summary)))

    def worked(self, call: ToolUse) -> None:
        """Run a call, and add its result."""
        done = results(self.toolbox.run(call))
        if self.history[-1].role == "user":
            done = Message("user", (*self.history.pop().blocks, *done.blocks))
        self.history.append(done)

    def goes_on(self, messages: list[Inbound]) -> bool:
        """Whether the turn goes on after a step, with what has come meanwhile. What is taken in
        before a stop is known would be lost with the turn."""
        if self.policy in ("queue", "collect") or self.brief.cancelled():
            return True
        more = self.came()
        if self.policy == "steer":
            return self.steered(messages, more)
        if more:
            self.stopped(messages)
            self.left[:0] = more
        return not more

    def steered(self, messages: list[Inbound], more: list[Inbound]) -> bool:
        """Take more messages into the turn."""
        if more:
            self.add([Text(message.text) for message in more])
            messages.extend(more)
        return True

    def answered(self, messages: list[Inbound], text: str) -> None:
        """End a turn with its answer, which names the newest message."""
        if self.policy == "interrupt" and (more := self.came()):
            self.left[:0] = more
            self.stopped(messages)
        else:
            self.brief.send(text, in_reply_to=messages[-1].id)

    def failed(self, messages: list[Inbound], failure: ModelFailure) -> None:
        """End a turn with what the model's API says; what waits stays in the queue."""
        text = f"The model gave no answer: {failure.text}"
        self.history.append(Message("assistant", (Text(text),)))
        self.brief.send(text, "error", in_reply_to=messages[-1].id, status="failed")

    def stopped(self, messages: list[Inbound]) -> None:
        """End a turn as cancelled."""
        self.brief.send("Stopped.", in_reply_to=messages[-1].id, status="cancelled")


def claims(policy: InboundPolicy, kind: type[Reading]) -> TargetSpec:
    """An agent of a kind, under the policy that it claims."""

    def agent(brief: Brief) -> None:
        kind(brief).run()

    return TargetSpec(kind.__name__, "python", agent=agent, profile=Profile(inbound=policy))


def right(policy: InboundPolicy) -> TargetSpec:
    """The right agent under a policy."""
    return claims(policy, type(f"Reading_{policy}", (Reading,), {"policy": policy}))


class _Steering(Reading):
    policy = "steer"


class _LooksAtStepsAlone(_Steering):
    def answered(self, messages: list[Inbound], text: str) -> None:
        """End a turn, and with it the queue of the turn."""
        self.came()
        super().answered(messages, text)


looks_at_steps_alone = claims("steer", _LooksAtStepsAlone)


class _ForgetsWhatItDrained(_Steering):
    def goes_on(self, messages: list[Inbound]) -> bool:
        """Drain the queue into a variable, which a stop throws away."""
        more = self.came()
        return self.brief.cancelled() or self.steered(messages, more)


forgets_what_it_drained = claims("steer", _ForgetsWhatItDrained)


class _EndsAtItsLimit(_Steering):
    def steered(self, messages: list[Inbound], more: list[Inbound]) -> bool:
        """Add the message to the conversation, after the last step that is allowed."""
        super().steered([], more)
        if more:
            text = "I may take no more steps."
            self.brief.send(text, "error", in_reply_to=messages[-1].id, status="limit")
        return not more


ends_at_its_limit = claims("steer", _EndsAtItsLimit)


class _DiesOfANewMessage(_Steering):
    def steered(self, messages: list[Inbound], more: list[Inbound]) -> bool:
        """Leave the turn, and the message that ended it."""
        return not more


dies_of_a_new_message = claims("steer", _DiesOfANewMessage)


class _AnswersItTwice(_Steering):
    def steered(self, messages: list[Inbound], more: list[Inbound]) -> bool:
        """Take the message in, and keep it in the queue of those that follow."""
        self.left[:0] = more
        return super().steered(messages, more)


answers_it_twice = claims("steer", _AnswersItTwice)


class _OneWaitsSoAllWait(_Steering):
    def steered(self, messages: list[Inbound], more: list[Inbound]) -> bool:
        """Take a message in only if the queue holds no other."""
        if len(more) > 1:
            self.left[:0] = more
            return True
        return super().steered(messages, more)


one_waits_so_all_wait = claims("steer", _OneWaitsSoAllWait)


class _SendsAllAgain(_Steering):
    def shorten(self) -> None:
        """Throw a summary away if a message came meanwhile, and send all again with that."""
        whole = list(self.history)
        super().shorten()
        if more := self.came():
            self.history = whole
            self.add([Text(message.text) for message in more])


sends_all_again = claims("steer", _SendsAllAgain)


class _ClearsAtAStop(Reading):
    def stopped(self, messages: list[Inbound]) -> None:
        """End the turn, and all that waits."""
        self.came()
        super().stopped(messages)


clears_at_a_stop = claims("queue", _ClearsAtAStop)


class _ClearsAtAFailure(Reading):
    def failed(self, messages: list[Inbound], failure: ModelFailure) -> None:
        """End the turn, and all that waits."""
        self.came()
        super().failed(messages, failure)


clears_at_a_failure = claims("queue", _ClearsAtAFailure)


class _ClearsAtACompaction(Reading):
    def shorten(self) -> None:
        """Make the conversation shorter, and the queue empty."""
        super().shorten()
        self.came()


clears_at_a_compaction = claims("queue", _ClearsAtACompaction)


class _NewestFirst(Reading):
    def following(self) -> Inbound | None:
        """Let a later message overtake those that wait."""
        first = super().following()
        *waiting, newest = [*([first] if first else []), *self.came(), None][:-1] or [None]
        self.left[:0] = waiting
        return newest


newest_first = claims("queue", _NewestFirst)


class _BreaksWhenBusy(Reading):
    busy = False

    def read(self) -> None:
        """Fail at a message that comes while the agent works."""
        for message in self.brief.inbox():
            if not self.busy:
                self.taken.put(message)
        self.taken.put(None)

    def turn(self, messages: list[Inbound]) -> None:
        """Work, and refuse what comes meanwhile."""
        self.busy = True
        super().turn(messages)
        self.busy = False


refuses_when_busy = claims("queue", _BreaksWhenBusy)


waits_in_place_of_interrupting = claims("interrupt", Reading)
waits_in_place_of_collecting = claims("collect", Reading)
steers_in_place_of_waiting = claims("queue", _Steering)
interrupts_in_place_of_steering = claims("steer", type("I", (Reading,), {"policy": "interrupt"}))
