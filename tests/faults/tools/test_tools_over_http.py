"""Every tool fault over HTTP: what a program in any language meets."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from harness.clock import RealClock
from harness.transports.loopback import Loopback
from tests.faults.tools.met import TOOLS, fired, transition
from tests.faults.tools.outcomes import RAISES, RETURNS

ODD_STATUS = {
    **{kind: 500 for kind in RAISES if kind.split(".")[1] in ("raises", "exits", "interrupts")},
    "tools.raises_custom": 500,
    "tools.raises_base": 500,
}
CUT = {"tools.answer_lost", "tools.never_returns", "tools.server_dies", "tools.server_down"}
"""The faults after which a client over HTTP gets no answer, so that it has to give up."""
SLOW = {"tools.late", "tools.approval_never"}


@pytest.mark.parametrize("kind", sorted(set(TOOLS) - SLOW - {"tools.kills_agent"}))
def test_what_a_program_meets_over_http(kind: str) -> None:
    settings = {"tools.never_returns": {"wait_s": 0.01}}.get(kind, {})
    run = transition(kind, settings)
    with Loopback(run, RealClock()) as server:
        url = urlsplit(server.urls.tools)
        connection = http.client.HTTPConnection(url.netloc, timeout=3 if kind in CUT else 60)
        body = json.dumps({"id": "toolu_1", "input": {"sum": 1}})
        connection.request("POST", f"{url.path}/pay", body)
        try:
            answer = connection.getresponse()
            status, said = answer.status, json.loads(answer.read())
        except OSError:
            status, said = 0, None
        connection.close()
    assert fired(run) == [kind]
    assert status == (0 if kind in CUT else ODD_STATUS.get(kind, 200))
    if status == 200 and kind in RETURNS and kind != "tools.not_utf8":
        assert said["content"] == RETURNS[kind][1] or kind in DIFFERENT
    if status == 200 and kind in RAISES:
        assert said == {"content": RAISES[kind][2], "is_error": True}


DIFFERENT = {"tools.huge", "tools.many_parts", "tools.instructions", "tools.changes_its_answer"}
"""The defaults of these are larger than the table's settings, or memory is not shared."""
