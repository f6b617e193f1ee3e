"""Fails or skips a test for a fixture; all outside text reaches pytest only through here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import pytest

from harness.core.values.errors import InputError
from harness.core.values.visible_text import visible, without_commands

if TYPE_CHECKING:
    from harness.runner import Run
    from harness.runner.fake_model import FakeModel

LINES_MAX = 25
"""The most lines of a failing test without `-v`."""


def fail(text: str) -> NoReturn:
    """Fail the test with a text; control sequences in it are escaped."""
    __tracebackhide__ = True
    pytest.fail(_shown(text), pytrace=False)


def _shown(text: str) -> str:
    """Return a text without control sequences and workflow commands."""
    is_github = os.environ.get("GITHUB_ACTIONS") == "true"
    return without_commands(visible(text)) if is_github else visible(text)


@contextmanager
def mistakes_told() -> Iterator[None]:
    """In the block, a mistake of the user fails the test in one line, without a traceback."""
    try:
        yield
    except InputError as error:
        raise pytest.fail.Exception(_shown(f"error: {error}"), pytrace=False) from None


def skip(text: str) -> NoReturn:
    """Skip the test; the reason is escaped in the same way."""
    __tracebackhide__ = True
    pytest.skip(_shown(text))


def report(runs: Sequence[Run], wanted: frozenset[str], repeat: str, whole: bool) -> str:
    """Return the text on runs that fail the test: one block, or with `whole` all runs."""
    from msgspec.structs import replace

    from harness.pytest_plugin.failure_block import WIDTH, failure_block
    from harness.report.command_summary import totals
    from harness.report.run_report import block
    from harness.verdicts.result import summarize

    summaries = [replace(summarize(run, None), repeat=repeat) for run in runs]
    end = [f"expected exactly: {', '.join(sorted(wanted))}"] if wanted else []
    end.append(totals(summaries))
    if whole:
        return "\n\n".join([*(block(each, WIDTH) for each in summaries), *end])
    return "\n".join([*failure_block(summaries, wanted, LINES_MAX - len(end)), *end])


def verify(fake: FakeModel, repeat: str, *, whole: bool) -> None:
    """Fail the test unless the fake model passes; `whole` shows every finding."""
    __tracebackhide__ = True
    from harness.runner.fake_model import NotAsScripted

    with suppress(NotAsScripted):
        fake.verify()
        return
    run = fake.judged()
    if run is None:
        fail(fake.unasked)
    fail(report([run], frozenset(), repeat, whole))


def seen(fake: FakeModel, repeat: str) -> str:
    """Return the findings on the requests of a test that failed by itself; "" for none.

    Unplayed answers do not count, because the test ended early.
    """
    run = fake.judged()
    told = run is not None and any(found.class_ for found in run.verdict.failing)
    return report([run], frozenset(), repeat, whole=False) if told and run else ""
