"""`harness.results` is a public function, and the name of a folder: a user gets the function."""

from __future__ import annotations

import harness
from harness.core.values import messages
from harness.results.result import Result


def test_the_folder_does_not_take_the_name_of_the_function() -> None:
    assert Result.__module__ == "harness.results.result"
    assert harness.results is messages.results
