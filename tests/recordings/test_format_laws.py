"""Our own formats keep the laws that a user tests his formats by."""

from __future__ import annotations

import pytest

from harness.contracts import check_format
from harness.recordings import formats
from tests.recordings.cassettes import DIALECTS
from tests.recordings.documents import SAMPLES as DOCUMENTS
from tests.recordings.readers import test_aider, test_httprr, test_inspect_ai, test_openhands
from tests.recordings.test_session_formats import SAMPLES as SESSIONS

READ: dict[str, list[bytes]] = {
    name: [data for format, data in DOCUMENTS.values() if format == name] for name in formats()
}
READ |= SESSIONS | {"vcr": list(DIALECTS.values())}
READ["aider"] = [test_aider.CHAT]
READ["httprr"] = [test_httprr.WHOLE]
READ["openhands"] = [test_openhands.trajectory(*test_openhands.TURN)]
READ["inspect_ai"] = [*READ["inspect_ai"], test_inspect_ai.archive(test_inspect_ai.sample())]


def test_every_format_that_reads_bytes_has_a_sample() -> None:
    assert {name for name, documents in READ.items() if not documents} == {"hermes"}


@pytest.mark.parametrize("name", [name for name in READ if READ[name]])
def test_a_format_keeps_the_laws(name: str) -> None:
    check_format(formats()[name], *READ[name], examples=30)
