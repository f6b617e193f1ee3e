"""Shrinking: cut a scenario as long as the finding stays.

`shrinker` applies the reductions in order, `scenario_size` compares, `finding_oracle` plays.
`delta_debugging` has the searches, and `inlining` writes out what a scenario only names.
"""

from harness.shrink.finding_oracle import FindingOracle as FindingOracle
from harness.shrink.shrinker import ShrinkStep as ShrinkStep
from harness.shrink.shrinker import Shrunk as Shrunk
from harness.shrink.shrinker import shrink as shrink
