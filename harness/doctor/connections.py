"""What the probes show of an agent's connections: facts for its profile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from harness.core.history.exchanges import Exchange
from harness.core.scenario.scenario import ToolScript
from harness.core.values.messages import Json
from harness.core.values.profile import Streaming
from harness.doctor.probe import Probe

PATTERN_WORDS = 5
"""The number of words at the beginning of a request's text that make a pattern of `purposes`."""


def speaks(probe: Probe) -> bool:
    """Whether the agent asked the model on the wire of this probe."""
    return bool(probe.requests)


def streams(probe: Probe) -> bool | None:
    """Whether the agent asked for a stream; None if it asked the model for nothing."""
    return any(e.request.stream for e in probe.main) if probe.main else None


def stream_of(probes: Iterable[Probe]) -> Streaming | None:
    """Whether the agent streams, from runs with and without the option `stream` on each wire; None
    if a run has no request."""
    asked = [streams(probe) for probe in probes]
    if None in asked:
        return None
    return "always" if all(asked) else "either" if any(asked) else "never"


def mixes_runs(probes: Iterable[Probe]) -> bool | None:
    """Whether the first request of a probe holds what the user said in another one, as of a session
    that outlasts its run; None if no probe has a request."""
    asked = [probe for probe in probes if probe.main]
    said = {item.text for probe in asked for item in probe.scenario.inbox if item.text}
    firsts = [
        ("\n".join(node.message.text for node in probe.main[0].added), probe.scenario.inbox)
        for probe in asked
    ]
    strangers = (said - {item.text for item in inbox} for _, inbox in firsts)
    found = (any(text in first for text in texts)
             for (first, _), texts in zip(firsts, strangers, strict=True))  # fmt: skip
    return any(found) if asked else None


class ToolNaming(msgspec.Struct, frozen=True):
    """How an agent names the tools of a scenario, which ones it does not offer, and which tools
    it has of its own."""

    prefix: str = ""
    names: dict[str, str] = {}
    missing: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


def tool_naming(offered: Mapping[str, Json], tools: Mapping[str, ToolScript]) -> ToolNaming:
    """Compare what the requests offer with the tools of the scenario."""
    found = {tool: _offered_as(tool, script, offered) for tool, script in tools.items()}
    known = {tool: name for tool, name in found.items() if name}
    prefixes = {name.removesuffix(tool) for tool, name in known.items()}
    is_prefixed = all(name.endswith(tool) for tool, name in known.items()) and len(prefixes) == 1
    prefix = prefixes.pop() if is_prefixed else ""
    renamed = {} if is_prefixed else {t: name for t, name in known.items() if name != t}
    own = tuple(name for name in offered if name not in known.values())
    return ToolNaming(prefix, renamed, tuple(t for t, name in found.items() if not name), own)


def _offered_as(tool: str, script: ToolScript, offered: Mapping[str, Json]) -> str:
    """The name under which a tool is offered: its own, one that ends with it, one that takes the
    same inputs; "" if none."""
    if tool in offered:
        return tool
    keys = set(script.input_schema.get("properties", ()))
    ends = [name for name in offered if name.casefold().endswith(tool.casefold())]
    alike = [n for n, schema in offered.items() if keys and set(_keys(schema)) == keys]
    found = [name for name in ends if name in alike] or ends or alike
    return found[0] if len(found) == 1 else ""


def _keys(schema: Json) -> Iterable[str]:
    return schema.get("properties") or () if isinstance(schema, Mapping) else ()


def results_of(probe: Probe) -> Literal["blocks", "text"] | None:
    """How results of tools are sent; None if no request holds one."""
    outputs = [run.text for run in probe.trace.executions if run.text]
    added = [node.message for e in probe.requests for node in e.added]
    if any(message.tool_results for message in added):
        return "blocks"
    said = "\n".join(m.text for m in added if m.role not in ("assistant", "system"))
    return "text" if any(output in said for output in outputs) else None


def ends_by_words(probe: Probe) -> bool | None:
    """Whether an answer in words ended the turn; None if no answer came whole."""
    answered = next((n for n, e in enumerate(probe.main) if e.succeeded), None)
    if answered is None:
        return None
    return bool(probe.endings) and answered == len(probe.main) - 1


def turn_ending_tools(probe: Probe) -> list[str]:
    """The tools of the only answer after which the agent replied without asking again."""
    last = probe.main[-1] if probe.main else None
    if last is None or not last.succeeded or not last.reply or not probe.endings:
        return []
    return list(dict.fromkeys(use.name for use in last.reply.tool_uses))


def overlaps(probe: Probe) -> bool | None:
    """Whether a tool began before another one had ended; None without two runs of tools."""
    runs = [run for run in probe.trace.executions if run.answered]
    if len(runs) < 2:
        return None
    first, second = runs[:2]
    return second.called.at_ms < first.called.at_ms + TOOL_MS


TOOL_MS = 1000
"""How long each tool of the probe `tools` takes."""


def compacts(probe: Probe) -> bool:
    """Whether a request of this probe is known as one for a summary before it is answered."""
    return any(e.called.purpose == "compact" for e in probe.requests)


def refused(probe: Probe) -> Exchange | None:
    """The request that was refused as too long."""
    return next((e for e in probe.requests if e.too_large), None)


def follows(later: Exchange, earlier: Exchange) -> bool:
    """Whether a request comes after another one of the same turn."""
    one, other = later.called, earlier.called
    return later.n > earlier.n and (one.session, one.turn) == (other.session, other.turn)


def summary_pattern(probe: Probe, others: Sequence[Probe]) -> str:
    """A regular expression for what looks like the request for a summary; "" if none does.

    Such a request comes after the refused one, in words that neither the user nor the agent said
    before. It is not the last request of its turn: the last one brings the answer.
    """
    known = {_beginning(text) for other in others for text in _asked_texts(other)}
    known |= {_beginning(delivery.inbound.text) for delivery in probe.trace.deliveries}
    for text in _texts_behind_refusal(probe):
        words = _beginning(text)
        if words and words not in known:
            return "^" + r"\s+".join(re.escape(word) for word in words)
    return ""


def _texts_behind_refusal(probe: Probe) -> Iterator[str]:
    begun = refused(probe)
    behind = [e for e in probe.main if begun is not None and follows(e, begun)]
    for exchange in behind[:-1]:
        yield _asked(exchange)


def _asked_texts(probe: Probe) -> Iterator[str]:
    return (_asked(exchange) for exchange in probe.requests)


def _asked(exchange: Exchange) -> str:
    """The last text of the user's side, which patterns of `purposes` are matched with."""
    messages = reversed(exchange.node.messages)
    return next((message.text for message in messages if message.role == "user"), "")


def _beginning(text: str) -> tuple[str, ...]:
    return tuple(text.split()[:PATTERN_WORDS])
