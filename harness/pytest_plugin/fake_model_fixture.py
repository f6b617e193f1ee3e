"""The fixture `fake_model`: fails a test whose requests differ from the script."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from harness.pytest_plugin.failure_text import fail, report

if TYPE_CHECKING:
    from harness.runner.fake_model import FakeModel


def verify(fake: FakeModel, repeat: str, *, whole: bool) -> None:
    """Fail the test unless the fake model passes; `whole` shows every finding."""
    __tracebackhide__ = True
    from harness.runner.fake_model import UNASKED, NotAsScripted

    with suppress(NotAsScripted):
        fake.verify()
        return
    run = fake.judged()
    if run is None:
        fail(UNASKED)
    fail(report([run], frozenset(), repeat, whole))


def seen(fake: FakeModel, repeat: str) -> str:
    """Return the findings on the requests of a test that failed by itself; "" for none.

    Unplayed answers do not count, because the test ended early.
    """
    run = fake.judged()
    told = run is not None and any(found.class_ for found in run.verdict.failing)
    return report([run], frozenset(), repeat, whole=False) if told and run else ""
