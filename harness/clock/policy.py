"""Virtual event loops for synchronous code that starts one itself.

Many a program is a plain function whose first line is `asyncio.run(main())`. The loop that
`asyncio.run`, `asyncio.Runner` and `anyio.run` make comes from asyncio's policy, which is a public
place to say what a new loop is; nothing is patched.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from harness.clock.loop import VirtualEventLoop
from harness.clock.virtual import VirtualClock


@contextmanager
def virtual_event_loops(clock: VirtualClock, *, real_s: float | None = None) -> Iterator[None]:
    """In this block a new asyncio event loop is a `VirtualEventLoop` on `clock`.

    One clock drives one loop at a time: a second loop beside a first is an ordinary one, whose
    waits are real and so are measured. `real_s` is as for `VirtualEventLoop`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # policies go with Python 3.16
        before = asyncio.get_event_loop_policy()
        base = asyncio.DefaultEventLoopPolicy

    class VirtualPolicy(base):  # type: ignore[valid-type, misc]
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            if clock.driven:
                return asyncio.SelectorEventLoop()
            return VirtualEventLoop(clock, real_s=real_s)

    _set_policy(VirtualPolicy())
    try:
        yield
    finally:
        _set_policy(before)


def _set_policy(policy: asyncio.AbstractEventLoopPolicy) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop_policy(policy)
