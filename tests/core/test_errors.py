from __future__ import annotations

import pytest

from harness.core.values.errors import HarnessError, InputError, RunStopped, nearest


@pytest.mark.parametrize(
    ("name", "known", "words"),
    [
        ("tims", ["times", "say"], "did you mean 'times'?"),
        ("zzz", ["b", "a"], "known: a, b"),
        ("zzz", [], "none is known"),
    ],
)
def test_the_nearest_right_name(name: str, known: list[str], words: str) -> None:
    assert nearest(name, known) == words


def test_an_input_error_says_where_and_what() -> None:
    error = InputError("key `x`: unknown", "a.yaml:3")
    assert (str(error), error.what, error.place) == (
        "a.yaml:3: key `x`: unknown",
        error.what,
        "a.yaml:3",
    )
    assert str(InputError("what")) == "what"


def test_a_stopped_run_passes_whoever_catches_exceptions() -> None:
    def agent() -> None:
        try:
            raise RunStopped
        except Exception:
            return

    with pytest.raises(RunStopped):
        agent()
    assert issubclass(HarnessError, Exception)
