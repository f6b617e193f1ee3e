"""The retries of the clients without an SDK: which errors to retry, and when.

The rules are those of the SDKs, so that an agent without an SDK behaves like the others.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from harness.agent.models.timeouts import RETRY_AFTER_MAX_S, retry_after_s

MAX_RETRIES = 2

_T = TypeVar("_T")


class APIError(Exception):
    """An answer that is an error: `status_code`, its headers, and the `type` from the body."""

    def __init__(
        self, text: str, status_code: int, type: str | None, headers: Mapping[str, str]
    ) -> None:
        self.status_code, self.type, self.headers = status_code, type, headers
        super().__init__(text)


class APIConnectionError(Exception):
    """The answer did not arrive, or not completely."""


def tried(send: Callable[[int], _T], max_retries: int) -> _T:
    """Call `send` with the number of earlier attempts, and return its result.

    Raises APIError or APIConnectionError after the last attempt.
    """
    tries = 0
    while True:
        try:
            return send(tries)
        except (APIError, APIConnectionError) as error:
            if tries >= max_retries or not _worth_another(error):
                raise
            time.sleep(_wait_s(error, tries))
        tries += 1


def _worth_another(error: APIError | APIConnectionError) -> bool:
    if isinstance(error, APIConnectionError):
        return True
    said = error.headers.get("x-should-retry")
    if retry_after_s(error.headers) > RETRY_AFTER_MAX_S or said == "false":
        return False
    return said == "true" or error.status_code in (408, 409, 429) or error.status_code >= 500


def _wait_s(error: APIError | APIConnectionError, tries: int) -> float:
    asked = retry_after_s(error.headers) if isinstance(error, APIError) else 0.0
    if asked > 0:
        return asked
    return float(min(0.5 * 2**tries, 8.0) * (1 - 0.25 * random.random()))
