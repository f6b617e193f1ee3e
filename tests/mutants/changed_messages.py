"""What mutants of the message share: a gateway that takes another text than the user wrote."""

from __future__ import annotations

import msgspec

from harness.agent.gateway import Gateway
from harness.core.values.calls import Inbound


class ChangedMessages(Gateway):
    """Takes each message as `changed` writes it; a mutant overrides that."""

    def changed(self, text: str) -> str:
        """The text for the model."""
        return text

    def receive(self, inbound: Inbound) -> None:
        """Work on the changed message."""
        super().receive(msgspec.structs.replace(inbound, text=self.changed(inbound.text)))
