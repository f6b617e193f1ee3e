"""For each rule a request that breaks it, the API's words for that, and its nearest legal kin.

The cases stand in `cases_messages`, `cases_fields` and `cases_state`, as the rules do.
"""

from __future__ import annotations

from tests.providers.anthropic import cases_fields, cases_messages, cases_state
from tests.providers.anthropic.bodies import Said

WINDOW = {"V23": 5, "V24": 30}

BROKEN: dict[str, tuple[Said, str]] = {
    **cases_messages.BROKEN,
    **cases_fields.BROKEN,
    **cases_state.BROKEN,
}

LEGAL: dict[str, Said] = {**cases_messages.LEGAL, **cases_fields.LEGAL, **cases_state.LEGAL}
