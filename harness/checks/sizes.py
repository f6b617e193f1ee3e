"""Whether a request that is too large is made smaller before it is sent again."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.begun import may_begin_again
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding

_BETA = "anthropic-beta"


@needs("model", "inbox")
def request_fits(history: History) -> Iterator[Finding]:
    """A request that is too large is sent once in a turn; what follows it is smaller.

    Too large is what the dialect's rules of size refuse (V23 and V24: the window; V26 and V27:
    images), a 413, and "prompt is too long" as an error in a stream, as a stop reason or as a
    wrapper's own message. `again`: a later main request of that turn has neither fewer tokens nor
    fewer bytes, and nothing came of the turn in between. Where the reply may be what does not fit,
    a lower `max_tokens` is smaller too. Not meant: the same conversation for a model or with a beta
    whose window is another one, what grows after a request that succeeded, a retry by the SDK, the
    step that was under way when the agent was killed, begun once more, and a new turn. An agent
    that knows one shape of the refusal pays for each of the others, and its conversation is stuck.
    An agent mends it by treating all shapes alike: make the request smaller, look whether it is,
    else say so. Source: invariant 7; gptme/gptme#185.
    """
    for turn in history.trace.turns.values():
        yield from _in_a_turn(history.trace, turn)


def _in_a_turn(trace: Trace, turn: Turn) -> Iterator[Finding]:
    refused: Exchange | None = None
    is_told = False
    for exchange in turn.main:
        if refused is not None and may_begin_again(trace, turn, refused, exchange):
            refused, is_told = None, False
        if refused is not None and not exchange.called.sdk_retry:
            if _is_smaller(exchange, refused):
                is_told = False
            elif not is_told:
                is_told = True
                yield _again(refused, exchange)
        if exchange.too_large:
            refused = exchange
        elif exchange.succeeded:
            refused, is_told = None, False


def _again(refused: Exchange, exchange: Exchange) -> Finding:
    text = f"{exchange.called.key} is no smaller than {refused.called.key}, which was too large: "
    text += f"{_measures(refused)} before, {_measures(exchange)} after"
    return Finding("request_fits.again", text, (refused.n, exchange.n))


def _measures(exchange: Exchange) -> str:
    return f"{exchange.called.tokens} tokens and {exchange.called.bytes} bytes"


def _is_smaller(exchange: Exchange, refused: Exchange) -> bool:
    now, then = exchange.called, refused.called
    if now.tokens < then.tokens or now.bytes < then.bytes:
        return True
    return _asks_another_window(exchange, refused) or _leaves_more_room(exchange, refused)


def _asks_another_window(exchange: Exchange, refused: Exchange) -> bool:
    now, then = exchange.request, refused.request
    return now.model != then.model or now.headers.get(_BETA) != then.headers.get(_BETA)


def _leaves_more_room(exchange: Exchange, refused: Exchange) -> bool:
    """Whether less is asked for, where the reply may have been too much."""
    if "V23" in refused.called.refused or refused.status == 413:
        return False
    now, then = exchange.request.max_tokens, refused.request.max_tokens
    return now is not None and then is not None and now < then
