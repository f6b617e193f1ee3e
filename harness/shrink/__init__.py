"""Shrinking: a scenario is cut until nothing more can go without losing the finding.

`search` goes from one kept candidate to the next, `reductions` lists what is tried, `measure` says
what smaller means, `keeping` whether the finding is still there, and `shape` what makes it the
same one. `unpacked` writes out what a scenario only names, so that it can be cut.
"""

from harness.shrink.keeping import Keeping
from harness.shrink.search import Shrunk, Step, shrink

__all__ = ["Keeping", "Shrunk", "Step", "shrink"]
