from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import Scenario
from harness.files.mistakes import Mistake, explain


@pytest.mark.parametrize(
    ("value", "what", "path"),
    [
        (
            {"script": [{"tims": 2}]},
            "key `tims`: unknown; did you mean 'times'?",
            ["script", 0, "tims"],
        ),
        (
            {"script": [{"say": 3}]},
            "key `say`: expected `str | null`, got `int`",
            ["script", 0, "say"],
        ),
        (
            {"limits": {"real": 1}},
            "key `real`: unknown; did you mean 'real_s'?",
            ["limits", "real"],
        ),
        (
            {"expect": {"calls": {"model": {"mx": 1}}}},
            "key `mx`: unknown; did you mean 'max'?",
            ["expect", "calls", "model", "mx"],
        ),
        (
            {"limits": {"virtual_s": "2 h"}},
            "key `virtual_s`: expected `float`, got `str`; write the number of seconds alone, "
            "such as 90",
            ["limits", "virtual_s"],
        ),
        (
            {"expect": {"waits_s": {"schedule": [1, "2s"]}}},
            "key `schedule`: expected `float`, got `str`; write the number of seconds alone, "
            "such as 90",
            ["expect", "waits_s", "schedule", 1],
        ),
        (
            {"window_tokens": "200k"},
            "key `window_tokens`: expected `int | null`, got `str`; write the number of tokens "
            "alone, such as 90",
            ["window_tokens"],
        ),
        (
            {"limits": {"model_calls": "50 calls"}},
            "key `model_calls`: expected `int`, got `str`",
            ["limits", "model_calls"],
        ),
        (
            {"limits": {"real_s": -1}},
            "key `real_s`: expected `float` > 0.0",
            ["limits", "real_s"],
        ),
        ({"titel": "x"}, "key `titel`: unknown; did you mean 'title'?", ["titel"]),
        (
            {"faults": [{"kind": "x", "then": "no"}]},
            "key `then`: 'no' is not one of escalate, ok, same",
            ["faults", 0, "then"],
        ),
    ],
)
def test_the_decoders_words_become_the_writers(
    value: dict[str, Any], what: str, path: list[str | int]
) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"name": "x", **value}, Scenario)
    found = explain(str(caught.value), Scenario)
    assert (found.text, [*found.path]) == (what, path)


def test_a_mistake_without_a_path_stays_as_it_is() -> None:
    found = explain("Expected `object`, got `int`", Scenario)
    assert found == Mistake("expected `object`, got `int`", ())
