"""The build step of the wheel: it takes the scenarios, cassettes, examples and docs along.

The description of the package is the README without its links to files, which a package index has
not. All else stands in pyproject.toml. An editable install takes nothing along: it finds the
folders beside the package.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))  # the list of the files is the package's own

from harness.files.bundle import FOLDER, files_in  # noqa: E402


class BuildWithBundle(build_py):
    """Copies the package, and the files that come along into its folder `bundle`."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.rmtree(self._bundle(), ignore_errors=True)  # an earlier build may have left some
            for below in files_in(ROOT):
                self.mkpath(str((self._bundle() / below).parent))
                self.copy_file(str(ROOT / below), str(self._bundle() / below))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Every file that is built."""
        inside = [] if self.editable_mode else [str(self._bundle() / b) for b in files_in(ROOT)]
        return [*super().get_outputs(include_bytecode), *inside]

    def _bundle(self) -> Path:
        return Path(self.build_lib, "harness", FOLDER)


def description() -> str:
    """The README, whose pictures and links to files are left out, and whose web links stay.

    The text of a link stays too, unless it stands alone in parentheses.
    """
    text = (ROOT / "README.md").read_text("utf-8")
    to_file = r"\[([^\]]+)\]\((?!https?:)[^)]*\)"
    for pattern, kept in (
        ("!" + to_file + r"\n*", ""),
        (rf"\s\({to_file}\)", ""),
        (to_file, r"\1"),
    ):
        text = re.sub(pattern, kept, text)
    return text


setup(
    cmdclass={"build_py": BuildWithBundle},
    long_description=description(),
    long_description_content_type="text/markdown",
)
