from __future__ import annotations

import math
import time
from email.utils import formatdate

import anthropic
import pytest

from harness.agent.models.timeouts import RETRY_AFTER_MAX_S, retry_after_s, with_bounded_retry_after
from tests.faults.surviving import survive


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-5"}, -5.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "30"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "30"}, 30.0),
        ({"retry-after": "inf"}, math.inf),
        ({"retry-after": "Wed, 99 Foo 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_how_long_an_answer_asks_to_wait(headers: dict[str, str], seconds: float) -> None:
    assert retry_after_s(headers) == seconds


@pytest.mark.parametrize("ahead_s", [-3600.0, 3600.0])
def test_a_date_counts_from_now(ahead_s: float) -> None:
    headers = {"retry-after": formatdate(time.time() + ahead_s, usegmt=True)}
    assert abs(retry_after_s(headers) - ahead_s) < 60


def test_nan_is_no_long_wait() -> None:
    assert not retry_after_s({"retry-after": "nan"}) > RETRY_AFTER_MAX_S


def test_an_sdk_without_middleware_is_left_as_it_is() -> None:
    client = object()
    assert with_bounded_retry_after(client) is client


@pytest.mark.skipif(not hasattr(anthropic.Anthropic, "with_middleware"), reason="an older SDK")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("often", ["once", "forever"])
@pytest.mark.parametrize("value", [121, 86_400, 1e9, "Fri, 31 Dec 2099 23:59:59 GMT"])
def test_no_day_is_slept_inside_a_call(value: float | str, often: str, stream: bool) -> None:
    found = survive("http.retry_after", settings={"retry_after": value}, often=often, stream=stream)
    assert found == []
