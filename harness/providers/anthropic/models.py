"""What the rules need to know of the provider's models, by line and version in the name.

The source is the provider's documentation. Manual thinking ends with 4.6, adaptive thinking starts
with 4.6, bound thinking with 5.1. The newest fable and mythos refuse forced tools and switched-off
thinking. An unknown name triggers no rule that needs a model.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from harness.core.values.messages import Json
from harness.core.values.table_file import package_text

_LINE = "haiku|sonnet|opus|fable|mythos"
# Two orders: `claude-LINE-4-5`, and the older `claude-3-5-LINE`. A date after the version has more
# than two digits, so that it is not read as the minor version.
_NAME = re.compile(
    rf"claude-(?:({_LINE})-(\d)(?:[-.](\d{{1,2}})(?!\d))?|(\d)(?:[-.](\d))?-({_LINE}))(?!\w)"
)

MAX_TOKENS = 128_000
"""The cap of a reply for a model that we do not know."""

_CAPS: tuple[tuple[tuple[int, int], int], ...] = (
    ((4, 6), 128_000),
    ((4, 5), 64_000),
    ((4, 0), 32_000),
    ((3, 7), 64_000),
    ((3, 5), 8_192),
    ((3, 0), 4_096),
)


class Model(msgspec.Struct, frozen=True):
    """A model by its name; `version` is (0, 0) when the name does not tell."""

    id: str
    line: str = ""
    version: tuple[int, int] = (0, 0)

    @property
    def known(self) -> bool:
        """Whether the name tells what the model is."""
        return self.version > (0, 0)

    @property
    def max_tokens(self) -> int:
        """The most tokens of a reply."""
        if self.line == "sonnet" and (4, 0) <= self.version < (4, 5):
            return 64_000
        caps = (cap for since, cap in _CAPS if self.known and self.version >= since)
        return next(caps, MAX_TOKENS)

    @property
    def binds_thinking(self) -> bool:
        """Whether a thinking block is refused after what came before it has changed."""
        return self.version >= (5, 1)

    @property
    def always_thinks(self) -> bool:
        """Whether thinking cannot be switched off, nor a tool be forced."""
        return self.line in ("fable", "mythos") and self.version >= (5, 1)

    def reads(self, other: Model) -> bool:
        """Whether the model is shown what another one thought; else the API drops it unsaid.

        Of one that we do not know, no block is dropped.
        """
        same_line = self.line == other.line and self.version >= other.version
        if same_line or not (self.known and other.known):
            return True
        if other.binds_thinking:
            return self.always_thinks and other.line in ("opus", "fable", "mythos")
        if not self.binds_thinking or self.always_thinks:
            return True
        lines = {"opus": ("sonnet", "haiku")}.get(self.line, ("opus", "sonnet", "haiku"))
        return other.line in lines and not (other.line == "opus" and other.version >= (5, 0))

    def thinks(self, kind: str) -> bool:
        """Whether the model takes a request with `thinking.type` set to `kind`."""
        if not self.known:
            return True
        if kind == "enabled":
            return (3, 7) <= self.version < (4, 7)
        if kind == "disabled":
            return not self.always_thinks
        return kind != "adaptive" or self.version >= (4, 6)


_LINES = _LINE.split("|")


def model_code(name: str) -> bytes:
    """A model in eight bytes, for a signature; zeros for one that we do not know."""
    it = model(name)
    place = _LINES.index(it.line) + 1 if it.known else 0
    return bytes((place, *it.version, 0, 0, 0, 0, 0))


def model_of(code: bytes) -> Model:
    """The model of a code."""
    line = _LINES[code[0] - 1] if 0 < code[0] <= len(_LINES) else ""
    return Model("", line, (code[1], code[2]))


@cache
def model(name: str) -> Model:
    """The model of that name."""
    found = _NAME.search(name)
    if found is None:
        return Model(name)
    new, major, minor, old_major, old_minor, old = found.groups()
    version = (int(major or old_major), int(minor or old_minor or 0))
    return Model(name, new or old, version)


_TERM = re.compile(rf"(?:({_LINE}))?(>=|<)(\d+)\.(\d+)")


@cache
def fits(models: str, name: str) -> bool:
    """Whether a model is one of `models`, terms as in `opus>=4.7 <4.6 unknown`."""
    return any(_is(term, model(name)) for term in models.split())


def _is(term: str, it: Model) -> bool:
    match = _TERM.fullmatch(term)
    if match is None or not it.known:
        return not it.known and term == "unknown"
    line, sign, major, minor = match.groups()
    bound = (int(major), int(minor))
    return line in (None, it.line) and (it.version >= bound) is (sign == ">=")


def info(name: str, window_tokens: int | None) -> dict[str, Json]:
    """A model as the API describes it; its window is the scenario's."""
    it, told = model(name), msgspec.json.decode(package_text(__package__, "model.json"))
    kinds = told["capabilities"]["thinking"]["types"]
    kinds |= {kind: {"supported": it.thinks(kind)} for kind in kinds}
    named = {"id": name, "display_name": name.replace("-", " ").title(), "line": it.line or None}
    return {**told, **named, "max_input_tokens": window_tokens, "max_tokens": it.max_tokens}
