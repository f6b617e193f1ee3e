"""Targets: the agents under test, found by their specification.

The names come late, because the marks of an agent in production import this package too.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.targets.spec import End as End
    from harness.targets.spec import TargetSpec as TargetSpec
    from harness.targets.spec import names as names
    from harness.targets.spec import of_callable as of_callable
    from harness.targets.spec import resolve as resolve
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
