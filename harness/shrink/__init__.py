"""Shrinking: cut a scenario as long as the finding stays.

`shrinker` tries the reductions in their order and goes on from what it keeps. `scenario_size` says
which of two scenarios is smaller. `finding_oracle` plays a candidate and says whether it still
shows the finding. `delta_debugging` has the searches that every reduction is made of. `inlining`
writes out what a scenario only names, so that it can be cut.
"""

from harness.shrink.finding_oracle import FindingOracle as FindingOracle
from harness.shrink.shrinker import ShrinkStep as ShrinkStep
from harness.shrink.shrinker import Shrunk as Shrunk
from harness.shrink.shrinker import shrink as shrink
