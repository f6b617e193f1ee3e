"""What a tool said, as the model gets it: wrong agents that change it on the way."""

from __future__ import annotations

import html
import json
import re
from functools import partial

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.context_overflow import Escalation
from harness.agent.conversation.history_size import clip
from harness.agent.conversation.projection import NO_TEXT
from harness.agent.toolbox import Toolbox, error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import Text, ToolResult, ToolUse
from tests.mutants import mutant
from tests.mutants.altered_results import AlteredTools, play_with, successes


@mutant(
    breaks="tools",
    statement="A short result is cut with a notice, so the model can never read the rest",
    scenario="what-the-tools-said/a-whole-page",
    killed_by="result_carried.clipped",
)
def clips_results_with_a_notice(brief: Brief) -> None:
    """Each result is cut at a small bound, and the model is told so, and no way to the rest.

    The reference agent that clips each result to 300 characters.
    """
    play_with(brief, successes(lambda text: clip(text, 300)))


def _cut_twice(text: str) -> str:
    kept = text[:400]
    return text if kept == text else f"{kept[:300]}\n[{len(kept) - 300} characters left out]"


@mutant(
    breaks="tools",
    statement="A second cut counts only what the first one left (openai/codex#35421)",
    scenario="what-the-tools-said/a-whole-page",
    killed_by="result_carried.part",
)
def counts_the_second_cut_alone(brief: Brief) -> None:
    """Two layers cut a result. The first says nothing, and the second counts what it got.

    The reference agent that cuts each result twice.
    """
    play_with(brief, successes(_cut_twice))


@mutant(
    breaks="tools",
    statement="White space of results is collapsed, and with it the indentation of code",
    scenario="what-the-tools-said",
    killed_by="result_carried.code",
)
def collapses_code(brief: Brief) -> None:
    """Code loses its indentation. The reference agent that collapses white space in each result."""
    play_with(brief, successes(lambda text: " ".join(text.split())))


@mutant(
    breaks="tools",
    statement="White space of results is collapsed, and with it the columns of tables",
    scenario="what-the-tools-said/a-table",
    killed_by="result_carried.white_space",
)
def collapses_white_space(brief: Brief) -> None:
    """Tables lose their columns. The reference agent that collapses white space in each result."""
    play_with(brief, successes(lambda text: " ".join(text.split())))


@mutant(
    breaks="tools",
    statement="A result is cut at a bound without a word, so the model takes a part for the whole",
    scenario="what-the-tools-said/a-whole-page",
    killed_by="result_carried.part",
)
def cuts_results_silently(brief: Brief) -> None:
    """A long result is cut, and nothing says so.

    The reference agent that cuts each result at 400 characters.
    """
    play_with(brief, successes(lambda text: text[:400]))


@mutant(
    breaks="tools",
    statement="A result is serialised by the tool's adapter and again by the model's",
    scenario="what-the-tools-said",
    killed_by="result_carried.encoded_twice",
)
def encodes_results_twice(brief: Brief) -> None:
    """Each result is JSON in JSON. The reference agent that encodes each text twice."""
    play_with(brief, successes(lambda text: json.dumps(json.dumps(text))))


@mutant(
    breaks="tools",
    statement="A result is kept as a page shows it, and the model reads it so (open-webui#20600)",
    scenario="what-the-tools-said/markup-and-quotes",
    killed_by="result_carried.escaped",
)
def escapes_results(brief: Brief) -> None:
    """A result is escaped for a page, and the model reads it so.

    The reference agent that writes each text for a page.
    """
    play_with(brief, successes(html.escape))


def _one_sentence(call: ToolUse, result: ToolResult) -> ToolResult:
    told = ToolResult(call.id, "This did not work.", is_error=True)
    return told if result.is_error else result


@mutant(
    breaks="tools",
    statement="Each error reads as one sentence, so the model cannot tell what to change",
    scenario="what-the-tools-said/beside-one-that-fails",
    killed_by="error_visible.reworded",
)
def hides_error_texts(brief: Brief) -> None:
    """Each failure reads the same, with the flag of an error and nothing of the tool's words.

    The reference agent that passes on no error's words.
    """
    play_with(brief, _one_sentence)


def _last_line(call: ToolUse, result: ToolResult) -> ToolResult:
    lines = result.text.strip().splitlines() if result.is_error else []
    return ToolResult(call.id, f"Error: {lines[-1]}", is_error=True) if lines else result


@mutant(
    breaks="tools",
    statement="An error is told by its last line, as that of a traceback",
    scenario="results-that-steer-the-program/an-error-of-three-lines",
    killed_by="error_visible.reworded",
)
def tells_the_last_line_of_an_error(brief: Brief) -> None:
    """Of an error the model reads the last line, which counts what the others tell.

    The reference agent that takes each error for a traceback.
    """
    play_with(brief, _last_line)


class _Invented(AlteredTools):
    def prepared(self, prepare: object) -> _Invented:
        return self

    def run(self, call: ToolUse) -> ToolResult:
        if call.name == "look_up":
            return ToolResult(call.id, "Everything is in order.")
        return super().run(call)


@mutant(
    breaks="tools",
    statement="A call that never ran is answered with a success",
    scenario="what-the-tools-said/two-at-once",
    killed_by="result_carried.invented",
)
def invents_results(brief: Brief) -> None:
    """No tool runs, and each call is answered with a success.

    The reference agent whose second tool never runs.
    """
    build(brief, tools=_Invented(standard_tools(brief), lambda call, result: result)).run()


class Uncapped(Toolbox):
    """Hands on the whole result of a tool."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result, however long."""
        try:
            value = self._call(self._tools[call.name], call)
        except Exception as error:
            return error_result(call, str(error))
        return ToolResult(call.id, str(value))


@mutant(
    breaks="tools",
    statement="One tool output of 1.94 million letters ended the session (incidents 60)",
    scenario="one-huge-output",
    killed_by="request_fits.result",
)
def keeps_results_of_any_size(brief: Brief) -> None:
    """Nothing caps what a tool may say, so one result is larger than the window in every request.

    The reference agent that makes nothing smaller.
    """
    build(brief, tools=Uncapped(brief.tools), overflow=partial(Escalation, stages=())).run()


def _first(call: ToolUse, result: ToolResult) -> ToolResult:
    texts = [b.text for b in result.content if isinstance(b, Text)]
    return ToolResult(call.id, texts[0]) if texts else result


@mutant(
    breaks="tools",
    statement="The first block of a result stands for all of them (mastra-ai/mastra#10328)",
    scenario="what-the-tools-said/several-blocks",
    killed_by="result_carried.part",
)
def reads_the_first_block(brief: Brief) -> None:
    """Of a result of several blocks only the first is sent.

    The reference agent that reads one block of each result.
    """
    play_with(brief, _first)


@mutant(
    breaks="tools",
    statement="A converter gives nothing, and the model reads undefined (mastra-ai/mastra#20402)",
    scenario="what-the-tools-said/a-small-value",
    killed_by="result_carried.lost",
)
def reads_undefined(brief: Brief) -> None:
    """Each success reads undefined. The reference agent whose results are lost on the way."""
    play_with(brief, successes(lambda text: "undefined"))


def _parsed(text: str) -> str:
    try:
        return json.dumps(json.loads(text, parse_int=lambda digits: int(float(digits))))
    except ValueError:
        return text


@mutant(
    breaks="tools",
    statement="A number over 2^53 passes through a float (modelcontextprotocol/go-sdk#1236)",
    scenario="what-the-tools-said/a-text-of-json",
    killed_by="result_carried.part",
)
def rounds_large_numbers(brief: Brief) -> None:
    """A text of JSON is read into floats and written again, so that a long id is another one.

    The reference agent with tools behind a gateway whose numbers are all floats.
    """
    play_with(brief, successes(_parsed))


@mutant(
    breaks="tools",
    statement="`0` and `false` are taken for no output (agno-agi/agno#9948, livekit/agents#6551)",
    scenario="results-that-steer-the-program/values-that-are-false",
    killed_by="result_carried.replaced",
)
def takes_false_for_nothing(brief: Brief) -> None:
    """Of a value that is false in Python, the model reads that there is none.

    The reference agent that asks for the truth of a value.
    """
    falsy = {"0", "false", "[]", "{}"}
    play_with(brief, successes(lambda text: NO_TEXT if text.casefold() in falsy else text))


def _bare(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict):
        return text
    return ", ".join(json.dumps(each) for each in value.values())


@mutant(
    breaks="tools",
    statement="An object of a tool reaches the model as its values, without the names (unseen, A)",
    scenario="what-the-tools-said/a-value-with-large-numbers",
    killed_by="result_carried.names",
)
def sends_bare_values(brief: Brief) -> None:
    """Of an object that a tool gives, the model reads the values.

    The reference agent whose tools give rows and no columns.
    """
    play_with(brief, successes(_bare))


class Smooth:
    """Tools that never fail."""

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    def __getattr__(self, name: str) -> object:
        return getattr(self._tools, name)

    def prepared(self, prepare: object) -> Smooth:
        """The same tools, made ready."""
        return Smooth(self._tools.prepared(prepare))  # type: ignore[arg-type]

    def run(self, call: ToolUse) -> ToolResult:
        """The result, without the bad news."""
        result = self._tools.run(call)
        return ToolResult(call.id, NO_TEXT) if result.is_error else result


@mutant(
    breaks="tools",
    statement="A failure with an empty body looks like a success (HKUDS/nanobot#2298)",
    scenario="failure-looks-like-success",
    killed_by="error_visible.reworded",
)
def swallows_tool_errors(brief: Brief) -> None:
    """A tool's failure becomes a result like any other, with nothing in it.

    The reference agent whose tools hide their errors.
    """
    build(brief, tools=Smooth(standard_tools(brief))).run()


def _denied(call: ToolUse, result: ToolResult) -> ToolResult:
    text = "Error: the call was not executed. You can make it again."
    return ToolResult(call.id, text, is_error=True) if result.is_error else result


def _right_tells_a_time_out_as_not_run(brief: Brief) -> None:
    """The agent that says of a failed call that its outcome is unknown."""
    unsure = "Error: no answer came. Whether the call was executed is unknown."

    def changed(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, unsure, is_error=True) if result.is_error else result

    play_with(brief, changed)


@mutant(
    breaks="tools",
    statement="A tool that acted and never answered is told as not run",
    scenario="tool-never-returns",
    killed_by="result_carried.discarded",
    look_alike=_right_tells_a_time_out_as_not_run,
)
def tells_a_time_out_as_not_run(brief: Brief) -> None:
    """A call that timed out is told as not run, so the model asks for its effect again.

    The reference agent that tells each failed call as not run.
    """
    play_with(brief, _denied)


def _flagged(call: ToolUse, result: ToolResult) -> ToolResult:
    return ToolResult(call.id, result.content, is_error=True)


@mutant(
    breaks="tools",
    statement="A result is a template to the prompt: names in braces are filled with nothing",
    scenario="what-the-tools-said/markup-and-quotes",
    killed_by="result_carried.part",
)
def takes_results_for_templates(brief: Brief) -> None:
    """Of `{name}` in a result, the model reads nothing.

    The reference agent that formats each text.
    """
    play_with(brief, successes(lambda text: re.sub(r"\{\w+\}", "", text)))


@mutant(
    breaks="tools",
    statement="A success with the wrong flag makes the model do again what was done",
    scenario="what-the-tools-said/a-small-value",
    killed_by="result_carried.failed",
)
def tells_success_as_error(brief: Brief) -> None:
    """Each success is told as an error. The reference agent that flags each result as an error."""
    play_with(brief, _flagged)
