"""The place that an agent's tools work in: one for each task, made by whichever tool comes first.

`spec` is all that there is to say about it, `settings` every way in which it is said, `shared` who
makes it and when. A tool hands in nothing of its own, so neither order nor entry point matters.
"""

from harness.agent.environment.settings import SETTINGS, Setting
from harness.agent.environment.shared import Backend, Environments
from harness.agent.environment.spec import EnvironmentSpec

__all__ = ["SETTINGS", "Backend", "EnvironmentSpec", "Environments", "Setting"]
