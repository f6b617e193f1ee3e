"""Says why a run has a finding: when it became likely, and which events are its proof."""

from harness.diagnosis.redraws import Play, Redraws, diagnosis

__all__ = ["Play", "Redraws", "diagnosis"]
