"""The failures of a model call, as one exception with six kinds. Pure.

An SDK raises its own errors by status, but does not wrap the HTTP library's errors in a stream.
Malformed bytes raise bare JSONDecodeError, AssertionError or IndexError. Errors are distinguished
by structure; text is read only inside an error. The SDKs come from one generator, and no word for
an error means two things in two APIs, so one table serves all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

FailureKind: TypeAlias = Literal[
    "overflow", "picture", "transient", "permanent", "broken_stream", "budget"
]

OVERFLOW_PHRASES = (
    "prompt is too long",
    "prompt_too_long",
    "request too large",
    "payload size exceeds the limit",  # Gemini, of bytes
    "maximum context length",
    "context_length_exceeded",
    "input tokens exceed",
    "maximum number of tokens allowed",
    "input is too long",
    "content length exceeds",
    "exceed context limit",
)

PICTURE_PHRASES = (
    "could not process image",
    "does not represent a valid image",
    "unable to process input image",
)

SYNTHETIC = "<synthetic>"
"""The model name in a message that a wrapper wrote."""

TOO_LONG = "context_length_exceeded"
"""The code of an error of OpenAI whose text may say nothing of the length."""

_REQUEST_ERRORS = frozenset(
    {
        *("authentication_error", "billing_error", "invalid_request_error", "not_found_error"),
        *("permission_error", "request_too_large"),
        *("insufficient_quota", "invalid_prompt"),
        *("FAILED_PRECONDITION", "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED"),
        "UNAUTHENTICATED",
    }
)
"""The words for a permanent error inside a stream, whose status of 200 says nothing: Anthropic's,
then OpenAI's and Gemini's further ones."""

_BY_CLASS: dict[str, FailureKind] = {
    "APIConnectionError": "transient",
    "APIError": "permanent",
    "HTTPError": "broken_stream",  # the base class of httpx's and httpx2's errors within a body
    "StreamError": "broken_stream",
    "JSONDecodeError": "broken_stream",
    "UnicodeDecodeError": "broken_stream",
    "UnicodeEncodeError": "permanent",
    "AssertionError": "broken_stream",
    "IndexError": "broken_stream",
    "ValueError": "broken_stream",
}


class ModelFailure(Exception):
    """A model call brought no usable answer. `text` is the provider's text.

    overflow: the request does not fit the model's window. picture: the provider cannot read a
    picture of the request. transient: the SDK's own retries are
    used up. permanent: the same request would fail again. broken_stream: the answer is incomplete.
    budget: the model was not asked, because the turn's budget is spent.
    """

    def __init__(self, kind: FailureKind, text: str) -> None:
        self.kind: FailureKind = kind
        self.text = text
        super().__init__(f"{kind}: {text}")


class APIError(Exception):
    """An answer that is an error, without an SDK: `status_code`, its headers, and the `type` from
    the body."""

    def __init__(
        self, text: str, status_code: int, type: str | None, headers: Mapping[str, str]
    ) -> None:
        self.status_code, self.type, self.headers = status_code, type, headers
        super().__init__(text)


class APIConnectionError(Exception):
    """The answer did not arrive, or not completely."""


def classify(error: BaseException) -> FailureKind | None:
    """The kind of an error that a model call raised; None for another error, such as a bug, which
    must surface."""
    status, word = getattr(error, "status_code", None), getattr(error, "type", None)
    if status == 413 or (status == 200 and word == "request_too_large"):
        return "overflow"
    if getattr(error, "code", None) == TOO_LONG:
        return "overflow"
    if status in (None, 200, 400) and mentions_overflow(error):
        return "overflow"
    if status in (None, 200, 400) and _mentions(error, PICTURE_PHRASES):
        return "picture"
    if isinstance(status, int):
        return _by_status(status, word)
    if type(error).__name__ == "APIError":  # the openai SDK's for an error event in a stream
        return _by_status(200, word)
    names = (base.__name__ for base in type(error).__mro__)
    return next((_BY_CLASS[name] for name in names if name in _BY_CLASS), None)


def mentions_overflow(error: BaseException) -> bool:
    """Whether an error, or one of its causes, says that the prompt is too long."""
    return _mentions(error, OVERFLOW_PHRASES)


def _mentions(error: BaseException, phrases: tuple[str, ...]) -> bool:
    texts = (str(link).lower() for link in _chain(error))
    return any(phrase in text for text in texts for phrase in phrases)


def classify_answer(model: str, tokens: int | None, text: str) -> FailureKind | None:
    """The kind of a failure that has the form of an answer; None for a real answer.

    A wrapper without an answer reports that in an assistant message. Its model is `SYNTHETIC`, or
    it counts no token and its text begins like an error. A real answer has tokens, even if it
    quotes an error. `tokens` is None when the provider does not count.
    """
    said = text.strip().lower()
    if model == SYNTHETIC:
        return "overflow" if any(phrase in said for phrase in OVERFLOW_PHRASES) else "permanent"
    return "overflow" if tokens == 0 and said.startswith(OVERFLOW_PHRASES) else None


def unusable(answer: Any) -> ModelFailure:
    """The failure for a 200 without a message: an HTML page (a str), or an error with a success
    status."""
    text = str(answer if isinstance(answer, str) else answer.to_dict())[:500]
    return ModelFailure(classify(ValueError(text)) or "broken_stream", text)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop(0)
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            yield link
            waiting += (link.__cause__, link.__context__)


def _by_status(status: int, type: str | None) -> FailureKind:
    if status == 200:  # an error event in a stream that began with status 200
        return "permanent" if type in _REQUEST_ERRORS else "broken_stream"
    return "transient" if status in (408, 409, 429) or status >= 500 else "permanent"


@contextmanager
def raised_as_failures() -> Iterator[None]:
    """Turn errors of the SDK, of the HTTP library and of malformed bytes into a ModelFailure."""
    try:
        yield
    except ModelFailure:
        raise
    except Exception as error:
        kind = classify(error)
        if kind is None:
            raise
        raise _failure(kind, error) from error


def stream_pieces(stream: Any) -> Iterator[Any]:
    """The pieces of a stream. A connection that fails here breaks off an answer, and so does an
    event without a field that the SDK needs.

    Raises ModelFailure.
    """
    try:
        yield from stream
    except (AttributeError, TypeError) as error:
        raise ModelFailure("broken_stream", f"an event could not be read: {error}") from error
    except Exception as error:
        if classify(error) != "transient":
            raise
        raise _failure("broken_stream", error) from error


def _failure(kind: FailureKind, error: Exception) -> ModelFailure:
    return ModelFailure(kind, str(error) or type(error).__name__)
