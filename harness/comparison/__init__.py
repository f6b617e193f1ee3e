"""The differences between two histories of one run: the first call, the requests' frame, the
numbers.

Calls are compared by their number, tools, arguments and the shape of messages. Prose, ids, ports,
times and scratch folders do not count. A difference is not a judgement.
"""

from harness.comparison.course import Call, course
from harness.comparison.figures import Figures, figures
from harness.comparison.first_difference import Change, Differences, differences

__all__ = ["Call", "Change", "Differences", "Figures", "course", "differences", "figures"]
