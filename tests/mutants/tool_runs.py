"""The run of a tool: wrong agents that run another one, twice, or without an end."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial

import msgspec
from msgspec.structs import replace

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief, Tool
from harness.core.values.messages import Json, ToolResult, ToolUse, canonical
from tests.mutants import mutant
from tests.mutants.altered_results import AlteredTools


class Caching(Toolbox):
    """Runs each call once."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._results: dict[tuple[str, str], ToolResult] = {}

    def run(self, call: ToolUse) -> ToolResult:
        """The first result of an equal call."""
        key = call.name, canonical(call.input)
        if key not in self._results:
            self._results[key] = super().run(call)
        kept = self._results[key]
        return ToolResult(call.id, kept.content, kept.is_error)


@mutant(
    breaks="tools",
    statement="One user's result is another user's: the key of the cache lacks the session",
    scenario="chats-that-count-alike",
    killed_by="session_isolation.message",
)
def caches_results_for_all_sessions(brief: Brief) -> None:
    """An equal call is answered from one cache for all chats.

    The reference agent with one cache for all chats.
    """
    build(brief, tools=Caching(brief.tools)).run()


FOR_EVER_S = 10.0**6


@mutant(
    breaks="tools",
    statement="A call of a tool has no time-out, and the run stands still for hours",
    scenario="tool-never-returns/an-hour",
    killed_by="bounded_wait.tool",
)
def no_tool_timeout(brief: Brief) -> None:
    """A tool is waited for until it answers, even until tomorrow.

    The reference agent with all the time in the world.
    """
    build(brief, tools=Toolbox(brief.tools, timeout_s=FOR_EVER_S)).run()


class _Cached(AlteredTools):
    def __init__(self, tools: object) -> None:
        super().__init__(tools, lambda call, result: result)  # type: ignore[arg-type]
        self._results: dict[str, ToolResult] = {}

    def prepared(self, prepare: object) -> _Cached:
        return self

    def run(self, call: ToolUse) -> ToolResult:
        key = canonical([call.name, call.input])
        if key not in self._results:
            self._results[key] = super().run(call)
        return ToolResult(call.id, self._results[key].content, self._results[key].is_error)


@mutant(
    breaks="tools",
    statement="The second equal call is answered from a cache (crewAIInc/crewAI#6509)",
    scenario="what-the-tools-said/asked-by-another-user",
    killed_by="result_carried.other",
)
def remembers_results(brief: Brief) -> None:
    """A call is answered from a cache by its tool and input, without a look at the session or time.

    The reference agent with one cache of results for all users.
    """
    build(brief, tools=_Cached(standard_tools(brief))).run()


class Nearest(AlteredTools):
    """Tools that answer to names like theirs."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result of the tool with the nearest name."""
        names = [spec.name for spec in self._tools.specs]
        near = get_close_matches(call.name, names, 1)
        return super().run(msgspec.structs.replace(call, name=near[0]) if near else call)


@mutant(
    breaks="tools",
    statement="`read_files` runs `read_file`, as `delete_all` may run `delete` (faults M9 and M10)",
    scenario="almost-the-right-name/with-one-letter-more",
    killed_by="args_complete.other_tool",
)
def runs_the_nearest_tool(brief: Brief) -> None:
    """A call with an unknown name runs the tool with the nearest one.

    The reference agent that runs the nearest tool.
    """
    build(brief, tools=Nearest(standard_tools(brief), lambda call, result: result)).run()


@mutant(
    breaks="tools",
    statement="A tool runs in another chat than the one that asked (openclaw/openclaw#93255)",
    scenario="chats-that-count-alike",
    killed_by="session_isolation.tool",
)
def runs_tools_in_one_chat(brief: Brief) -> None:
    """The session in which tools run is a constant of the program.

    The reference agent whose tools know one chat.
    """
    fixed = [replace(tool, call=partial(tool.call, session="main")) for tool in brief.tools]
    build(brief, tools=Toolbox(fixed)).run()


class Eager(Toolbox):
    """Runs a call again when it fails."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result of the second try, if there is one."""
        result = super().run(call)
        return super().run(call) if result.is_error else result


@mutant(
    breaks="tools",
    statement="The answer of the mail server was lost, and the mail went out twice (incident 158)",
    scenario="two-emails",
    killed_by="effect_once.effect",
)
def tries_lost_answers_again(brief: Brief) -> None:
    """The client of a tool tries again without an answer, even if the tool has an effect.

    The reference agent with such tools.
    """
    build(brief, tools=Eager(brief.tools)).run()


class GivesOtherInputs(AlteredTools):
    """Tools that get what was made of an input."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result for the input as it was made."""
        return super().run(replace(call, input=self.made(call)))

    def made(self, call: ToolUse) -> Json:
        """The input without white space at the ends of its texts."""
        return {name: v.strip() if isinstance(v, str) else v for name, v in call.input.items()}


@mutant(
    breaks="tools",
    statement="Each text of an input is trimmed, so a line of code loses its place",
    scenario="input-to-the-letter",
    killed_by="args_complete.changed",
)
def trims_inputs(brief: Brief) -> None:
    """Blanks at the ends of a text are taken for a slip of the model.

    The reference agent whose tools get trimmed texts.
    """
    build(brief, tools=GivesOtherInputs(standard_tools(brief), lambda call, result: result)).run()


class AsFloats(GivesOtherInputs):
    """Tools whose numbers have passed through a float of 64 bits."""

    def made(self, call: ToolUse) -> Json:
        """The input with the digits that a float keeps."""
        return {n: int(float(v)) if isinstance(v, int) else v for n, v in call.input.items()}


@mutant(
    breaks="tools",
    statement="Arguments are read with floats for numbers, and another record is changed",
    scenario="input-to-the-letter/a-long-number@openai-chat",
    killed_by="args_complete.changed",
)
def reads_numbers_as_floats(brief: Brief) -> None:
    """A number of 18 digits loses the last ones on its way to the tool.

    The reference agent whose tools get floats.
    """
    build(brief, tools=AsFloats(standard_tools(brief), lambda call, result: result)).run()


class Completing(GivesOtherInputs):
    """Tools whose missing texts are filled in."""

    def made(self, call: ToolUse) -> Json:
        """The input with an empty text for each required name that it lacks."""
        schema = next(s.input_schema for s in self._tools.specs if s.name == call.name)
        return dict.fromkeys(schema.get("required") or (), "") | call.input


@mutant(
    breaks="tools",
    statement="A required value that the model left out is filled with nothing, and the tool runs",
    scenario="input-to-the-letter/a-value-left-out",
    killed_by="args_complete.changed",
)
def fills_in_what_is_missing(brief: Brief) -> None:
    """A record is overwritten with an empty text, for the model forgot to give one.

    The reference agent that completes inputs by their schema.
    """
    build(brief, tools=Completing(standard_tools(brief), lambda call, result: result)).run()


class Shared(Toolbox):
    """Gives a tool the input that the history holds."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result of a call, and in the call what the tool has made of its input."""
        return super().run(replace(call, input=_Uncopied(call.input)))


class _Uncopied(dict[str, Json]):
    """An input of which no copy is made."""

    def __init__(self, held: dict[str, Json]) -> None:
        super().__init__(held)
        self._held = held

    def __deepcopy__(self, memo: object) -> dict[str, Json]:
        return self._held


@mutant(
    breaks="tools",
    statement="A tool changes the input that it is given, and with it the history (fault X14)",
    scenario="input-to-the-letter/changed-by-the-tool",
    killed_by="calls_handled.altered",
)
def tools_change_the_history(brief: Brief) -> None:
    """The model reads that it asked for what the tool has made of its call.

    The reference agent that copies no input.
    """
    build(brief, tools=Shared(brief.tools)).run()


class StashedByName(Toolbox):
    """Fetches a result from the queue of its tool."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def run(self, call: ToolUse) -> ToolResult:
        """Run a call; a failure is answered at once, and its output stays in the queue."""
        result = super().run(call)
        self._waiting[call.name].append(result.text)
        if result.is_error:
            return result
        return msgspec.structs.replace(result, content=self._waiting[call.name].popleft())


@mutant(
    breaks="tools",
    statement="Outputs are attached to the wrong call, off by one (seeds 38, 39)",
    scenario="identical-failures/own-result-each",
    killed_by="history_faithful.swapped_result",
)
def results_stashed_by_name(brief: Brief) -> None:
    """Outputs wait in a queue of their tool's name; one that is not fetched shifts all that follow.

    The reference agent whose results are known by tool alone.
    """
    build(brief, tools=StashedByName(brief.tools)).run()
