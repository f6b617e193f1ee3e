"""Small files of every format, for what holds of them all: the laws of a format, and the fuzz."""

from __future__ import annotations

from harness.recordings import formats
from tests.recordings import databases, documents, test_session_formats
from tests.recordings.cassettes import DIALECTS
from tests.recordings.readers import (
    test_aider,
    test_genai_replay,
    test_httprr,
    test_inspect_ai,
    test_openhands,
)

SAMPLES: dict[str, list[bytes]] = {name: [] for name in formats()}
"""By the name of the format."""

for _name, _sample in documents.SAMPLES.values():
    SAMPLES[_name].append(_sample)
for _name, _samples in test_session_formats.SAMPLES.items():
    SAMPLES[_name] += _samples
SAMPLES["vcr"] += DIALECTS.values()
SAMPLES["aider"].append(test_aider.CHAT)
SAMPLES["genai_replay"].append(test_genai_replay.WHOLE)
SAMPLES["httprr"].append(test_httprr.WHOLE)
SAMPLES["inspect_ai"].append(test_inspect_ai.archive(test_inspect_ai.sample()))
SAMPLES["openhands"].append(test_openhands.trajectory(*test_openhands.TURN))
for _name, _databases in databases.SAMPLES.items():
    SAMPLES[_name] += map(databases.database, _databases)
