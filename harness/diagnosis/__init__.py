"""Says why a run has a finding: when it became likely, and which events are its proof."""

from harness.diagnosis.chain import diagnosis
from harness.diagnosis.redraws import Play, Redraws

__all__ = ["Play", "Redraws", "diagnosis"]
