"""A world apart for probes: a copy of the project, with its own home and temporary folder."""

from harness.scratch.scratch_world import ScratchWorld as ScratchWorld
from harness.scratch.scratch_world import entered as entered
from harness.scratch.scratch_world import scratch_world as scratch_world
