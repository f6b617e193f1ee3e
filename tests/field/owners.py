"""The page for owners: for each known agent how it is played, what is not asked, what was found."""

from __future__ import annotations

from harness.adapters.shared.framework_agent import frameworks
from harness.catalogue import FIELD_PREFIX, field_findings
from harness.core.values.profile import CAPABILITIES, Profile
from harness.targets.known import known
from tests.field.environments import ROOT, is_same, profile_of
from tests.field.templates import template

PAGE = ROOT / "docs" / "my-agent.md"
MARK = "<!-- From here on: python -m tests.field --kept -->\n"

WORDS = {
    "session": "a seeded session",
    "store": "`brief.store`",
    "own_store": "its own store",
    "cancel": "a cancel",
    "compaction": "requests that are summaries",
    "streaming": "streamed answers",
    "sub_agents": "sub-agents",
    "outbox": "an outbox that fails",
    "restarts": "a restart",
    "tools": "tools of a scenario",
}
"""The capabilities as an owner reads them."""

HOMES = {"langgraph": ("langgraph", "langchain"), "tool_runner": ("anthropic_runner",)}
"""The targets of the field that play an adapter, where they have other names."""


def write() -> None:
    """Replace the part of the page below its mark."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def page(text: str) -> str:
    """The page with the parts that are made of the data."""
    return text.partition(MARK)[0] + MARK + "\n" + _tables()


def _tables() -> str:
    names = {*known(), *frameworks(), *(name for names in HOMES.values() for name in names)}
    told = {row.target for row in field_findings().values()}
    others = sorted(one for one in told if not any(is_same(one, name) for name in names))
    return template("owners.md.jinja").render(
        programs=known(), frameworks=frameworks(), homes=HOMES, others=others,
        found=found, not_asked=not_asked, adapted=profile_of("pydantic_ai"),
    )  # fmt: skip


def not_asked(profile: Profile) -> str:
    """What the profile declares absent, in words."""
    return ", ".join(WORDS[name] for name in CAPABILITIES if profile.declares(name) is False)


def found(*targets: str) -> str:
    """The confirmed findings on a target: how many, and what `harness explain` tells them by."""
    rows = {n: row for n, row in field_findings().items()
            if any(is_same(row.target, target) for target in targets)}  # fmt: skip
    if not rows:
        return "none yet"
    asked = ", ".join(f"`{FIELD_PREFIX}{each}`" for each in
                      dict.fromkeys(row.target for row in rows.values()))  # fmt: skip
    return f"{len(rows)}: {asked}"
