"""What a rule of the API is, and the dialects in which one can be on.

A dialect is a provider as agents meet it. `anthropic-2026` is today's API and the default;
`anthropic-2023` and `bedrock` are what older models and older endpoints say; `strict` is a gateway
or a clone that also refuses what the API forgives; `lenient` refuses only what it cannot read, or
what cannot fit.
"""

from __future__ import annotations

import msgspec

NEW = frozenset({"anthropic-2026"})
OLD = frozenset({"anthropic-2023", "bedrock"})
STRICT = frozenset({"strict"})
USUAL = NEW | OLD | STRICT
ALL = USUAL | {"lenient"}

DIALECTS = tuple(sorted(ALL))
DEFAULT_DIALECT = "anthropic-2026"


class Rule(msgspec.Struct, frozen=True):
    """One refusal: `text` is a template, filled in by name (`n` message, `m` block, from 0).

    `known` says how the rule is known: S = types of the official SDK, D = the provider's
    documentation, I = seen verbatim in the public issue named by `source`, K = general knowledge
    that nothing here confirms. `code` is the error code in the details of the answer.
    """

    id: str
    dialects: frozenset[str]
    known: str
    source: str
    text: str
    status: int = 400
    type: str = "invalid_request_error"
    code: str = ""
