"""What two histories of one run differ in: the first call, the requests' frame, and the numbers.

Calls are compared by what they are: their number, tools, arguments and the shape of messages.
Prose, ids, ports, times and scratch folders do not count. Nothing here judges.
"""

from harness.comparison.course import Call, course
from harness.comparison.figures import Figures, figures
from harness.comparison.first_difference import Change, Differences, differences

__all__ = ["Call", "Change", "Differences", "Figures", "course", "differences", "figures"]
