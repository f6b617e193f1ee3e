"""The rules of the API (`rules.tsv`), bound to the names that the detecting code uses.

C1 to C7 are about the conversation, C10 to C21 about the shape of a request: what must be there, of
which type, how long. A rule with a letter asks of all but a lenient server what its number asks of
every one. From C30 on each text is that of some clone or gateway; they stand together in `strict`
because an agent that moves from one to another meets them one after the other. V23 and V24, a
prompt over the window, are named alike by every provider.
"""

from __future__ import annotations

from harness.providers.openai_chat.record import RECORD
from harness.providers.shared.openai import parameter_error
from harness.providers.shared.rules import RuleTable

TABLE = RuleTable(RECORD, __package__, parameter_error)
RULES, rules_of, violation = TABLE.rules, TABLE.active, TABLE.violation
