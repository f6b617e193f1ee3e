"""The differences between two histories of one run: the first call, and the requests' frame.

Calls are compared by their number, tools, arguments and the shape of messages. Prose, ids, ports,
times and scratch folders do not count. A difference is not a judgement.
"""

from harness.comparison.course import Call, course
from harness.comparison.first_difference import Change, Differences, differences

__all__ = ["Call", "Change", "Differences", "course", "differences"]
