"""The same for the refusal that comes inside a stream which began with 200."""

from __future__ import annotations

from tests.mutants import Mutant
from tests.mutants.explains_the_overflow import agent

__all__ = ["MUTANT", "agent"]

MUTANT = Mutant(
    breaks="model",
    statement="An error event says that the prompt is too long, and it grows (wire A5, shape d)",
    scenario="overflow-shapes/error-event+stream",
    killed_by="request_fits.again",
)
