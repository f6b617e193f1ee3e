"""Confirmed findings in public agents: one TOML file each, in the folder `field`.

A finding is here only after a check without the harness showed it too. The name of a file is
TARGET-SLUG; reports and `harness explain` call it `field/NAME`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.strict import Strict
from harness.core.values.table_file import package_text

FOLDER = Path(__file__).with_name("field")
FIELD_PREFIX = "field/"

Words: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Link: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^(https://\S+)?$")]

GENERAL = "general"
Basis: TypeAlias = Annotated[str, msgspec.Meta(pattern=rf"^({GENERAL}|https://\S+)$")]


class FieldFinding(Strict, frozen=True):
    """A finding: the target, the defect, and how to repeat it without the harness.

    `repeat` is the command of the check without the harness. `scenario` is the shortest scenario
    that shows `codes` on the target. `basis` is the document, recording or report that says why it
    is wrong. GENERAL means that no document says so, and that a good agent does better. `issue` is
    a public report of it. `agent` names the agent of the target's module that shows it, where it is
    not that of its profile. `fixed_in` is the first release without it; a fixed finding is counted
    apart.
    """

    target: Words
    version: Words
    language: Words
    codes: Annotated[tuple[Words, ...], msgspec.Meta(min_length=1)]
    class_: Literal["defect", "weakness"] = msgspec.field(name="class")
    title: Words
    what: Words
    repeat: Words
    expected: Words
    observed: Words
    basis: Basis
    issue: Link
    scenario: Words
    agent: str = ""
    fixed_in: str = ""

    @property
    def reason(self) -> str:
        """The basis; for GENERAL a sentence in place of a link."""
        is_general = self.basis == GENERAL
        return "what a good agent does; no document says so" if is_general else self.basis

    def shows(self, code: str) -> bool:
        """Whether the finding has the code, or a rule of the check with that name."""
        return any(code in (each, each.rpartition(".")[0]) for each in self.codes)


@cache
def field_findings() -> MappingProxyType[str, FieldFinding]:
    """Return the confirmed findings by name, in the order of the names."""
    names = sorted(path.stem for path in FOLDER.glob("*.toml"))
    package = "harness.catalogue"
    texts = {name: package_text(package, f"{FOLDER.name}/{name}.toml") for name in names}
    return MappingProxyType({name: field_finding(text, name) for name, text in texts.items()})


def field_finding(text: str, name: str) -> FieldFinding:
    """Read a finding from the text of a file. Raises InputError, with the file, for bad text."""
    try:
        return msgspec.convert(tomllib.loads(text), FieldFinding)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{error}", f"{FOLDER.name}/{name}.toml") from None
