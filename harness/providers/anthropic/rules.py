"""The rules of the API (`rules.tsv`), bound to the names that the detecting code uses.

V numbers up to V31 are those of the rules known from public threads; V32 and up are the ordinary
schema errors of the API. What a model can do decides V15 to V20 and V25 (`models`), so they bite
only for models that are known. V15 to V17 hold for signatures that our own provider wrote; those of
others are not judged. V18 is on for gateways only: in an agent's hands it is the script's doing
whether an answer thinks.

The rules of threads and signed summaries have an error code in place of a number, and the official
SDK acts on the code: on the first three it sends the whole history as a new thread, on
`thread_unsupported_request` it goes on without threads. Types and codes are those of the SDK; the
texts are ours, close to what its types say of each. `thread_continue_in_flight` and
`compaction_too_many_tool_references` are not judged: a call is decided at once, so none is ever in
flight while another is read; a fault says it.
"""

from __future__ import annotations

from harness.providers.anthropic.record import RECORD
from harness.providers.shared.rules import RuleTable

TABLE = RuleTable(RECORD, __package__)
RULES, rules_of, violation = TABLE.rules, TABLE.active, TABLE.violation
