"""The rules of the API (`rules.tsv`), bound to the names that the detecting code uses.

V1 to V31 are known from public threads; V32 and up are the API's ordinary schema errors. V15 to V20
and V25 depend on the model, and hold only for known ones. V15 to V17 judge only signatures that our
own provider wrote. V18 is on for gateways only: whether an answer thinks is up to the script.

The rules of threads and signed summaries have error codes, and the official SDK acts on them: after
the first three it sends the whole history as a new thread, after `thread_unsupported_request` it
goes on without threads. Types and codes are the SDK's; the texts are ours. A fault alone says
`thread_continue_in_flight` and `compaction_too_many_tool_references`: a call is decided at once.
"""

from __future__ import annotations

from harness.providers.anthropic.record import RECORD
from harness.providers.shared.rules import RuleTable

TABLE = RuleTable(RECORD, __package__)
RULES, rules_of, violation = TABLE.rules, TABLE.active, TABLE.violation
