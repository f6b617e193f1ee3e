"""The rows as data: a fault, and what surfaced from the SDK when it was first measured.

The first measurements were made with anthropic 2.11 and openai 3.52 against a raw socket.
"""

from __future__ import annotations

from tests.wire_table.row import Row
from tests.wire_table.rows_anthropic import BODIES, INPUTS, STREAMS
from tests.wire_table.rows_openai import CHAT, RESPONSES
from tests.wire_table.rows_retries import RETRIES

ROWS: tuple[Row, ...] = (*RETRIES, *STREAMS, *INPUTS, *BODIES, *CHAT, *RESPONSES)
