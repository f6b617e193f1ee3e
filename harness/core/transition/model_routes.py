"""The providers that answer in one run: the run's own, and those that the agent moves to.

A run is on one wire, so that an agent which does not speak it is told so by a 404. An agent with a
fallback calls that wire too. So from its first call on, each provider is at its own path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.core.transition.model_seam import Kept, ModelSeam
from harness.core.transition.ports import Provider

ProviderAt = Callable[[str], Provider | None]
"""The provider whose model is at a path."""


def no_provider(path: str) -> Provider | None:
    """A run of one provider."""
    return None


class ModelRoutes:
    """The model seams of a run by provider; another provider's is made at its first call.

    `others` are the further providers that the agent has called, by name.
    """

    def __init__(self, home: ModelSeam, found_at: ProviderAt) -> None:
        self._home, self._found_at = home, found_at
        self._path, self._seams = home.wire.paths()[0], {home.wire.name: home}
        self.others: dict[str, Provider] = {}
        for fault in home.faults:
            fault.others = self.others

    @property
    def endless(self) -> str:
        """What is wrong with a regular expression that did not end; "" if none."""
        return next((seam.endless for seam in self._seams.values() if seam.endless), "")

    def kept(self) -> list[Kept]:
        """What the providers keep of conversations."""
        return [kept for seam in self._seams.values() for kept in seam.kept()]

    def keep(self, kept: Iterable[Kept]) -> None:
        """Take over what the providers kept in an earlier process of the agent."""
        for each in kept:
            self.at(each.path).keep(each)

    def serves(self, path: str, calls: int) -> bool:
        """Whether another provider answers at a path, after this many calls of the model."""
        return calls > 0 and self._found_at(path) is not None

    def at(self, path: str) -> ModelSeam:
        """The seam of the provider whose model is at a path."""
        if path == self._path:  # the common case
            return self._home
        found = self._found_at(path)
        if found is None:
            return self._home
        if found.name not in self._seams:
            self.others[found.name] = found
            self._seams[found.name] = self._home.of(found)
        return self._seams[found.name]
