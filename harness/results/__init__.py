"""What a command comes to, as values: one result for each thing that was judged.

`report` renders these values, one file a medium. Nothing here knows a medium.
"""

import sys
from types import ModuleType

from harness.core.values import messages


class _Face(ModuleType):
    """The package `harness`, in which `results` stays the public function of this name.

    Python binds a folder to its name in the package as soon as the folder is imported. A user whose
    run has loaded this one would lose the function, so a property ignores it.
    """

    @property
    def results(self) -> object:
        """`harness.results`: a user message that answers tool calls."""
        return messages.results

    @results.setter
    def results(self, _: object) -> None: ...


sys.modules["harness"].__class__ = _Face
