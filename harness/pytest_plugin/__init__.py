"""The pytest plugin: three fixtures, six options and three ini keys.

Plug-ins are loaded at session start, in each pytest-xdist worker too. Everything else is imported
when a test first plays.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.pytest_plugin.cassette_fixture import Cassettes as Cassettes
from harness.pytest_plugin.fake_model_fixture import verify
from harness.pytest_plugin.play_fixture import Play as Play
from harness.pytest_plugin.play_fixture import Runs as Runs

if TYPE_CHECKING:
    from harness.configuration import Configuration
    from harness.core.values.profile import Profile
    from harness.core.values.verdict import FindingClass
    from harness.runner.fake_model import FakeModel


_FAIL_ON = pytest.StashKey["FindingClass | None"]()
_CONFIGURATION = pytest.StashKey["Configuration"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options `--harness-*`, and the ini keys `harness_*`."""
    group = parser.getgroup("harness", "loop-harness: scenarios for LLM agents")
    group.addoption("--harness-seed", type=int, metavar="N", help="In place of each scenario's.")
    group.addoption("--harness-out", metavar="DIR", help="Keep the history of each run below DIR.")
    group.addoption(
        "--harness-profile",
        metavar="NAME|FILE",
        help="What the agents are: a configured profile, or a file.",
    )
    group.addoption(
        "--harness-record",
        choices=("none", "once", "all"),
        default="none",
        help="Which cassettes to record from the real model: none, those that are not there, all.",
    )
    group.addoption(
        "--harness-no-config",
        action="store_true",
        help="Read no [tool.harness] of the root folder, and load no installed plug-in.",
    )
    group.addoption(
        "--harness-fail-on",
        choices=("defect", "weakness", "advice"),
        help="From which class on a finding fails a run.",
    )
    group.addoption(
        "--harness-isolate",
        action="store_true",
        help="Call each Python agent in a forked child, which it may end by any means.",
    )
    parser.addini("harness_fail_on", help="The class where no option names one.")
    parser.addini("harness_profile", help="The profile where no option names one.")
    parser.addini(
        "harness_plugins",
        type="args",
        default=[],
        help="Modules with faults, checks, formats or store readers of your own.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the plug-ins that the root folder configures, the installed ones, and those of the ini.

    Raises pytest.UsageError for one that cannot be used.
    """
    from harness.core.values.errors import InputError
    from harness.plugins import configured

    reads_config = not config.getoption("--harness-no-config")
    try:
        plugins = config.getini("harness_plugins")
        found = configured(plugins, config=reads_config, folder=config.rootpath)
        config.stash[_CONFIGURATION] = found
        config.stash[_FAIL_ON] = _fail_on(config)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.fixture
def play(request: pytest.FixtureRequest) -> Play:
    """Play scenarios against an agent: see `Play`."""
    config = request.config
    seed: int | None = config.getoption("--harness-seed")
    out: str | None = config.getoption("--harness-out")
    folders = (request.path.parent, config.rootpath, config.invocation_params.dir)
    profiles, note = partial(_profile, config), partial(_note, request.node)
    isolate = config.getoption("--harness-isolate")
    whole, more = config.get_verbosity() > 0, config.stash[_CONFIGURATION].files_from
    return Play(
        folders, seed, _folder_of(request, out), profiles, config.stash[_FAIL_ON], note, isolate,
        whole, more, _repeat(request),
    )  # fmt: skip


def _folder_of(request: pytest.FixtureRequest, out: str | None) -> Path | None:
    """Where the histories of a test are kept: below its own name, so that no test overwrites
    another's."""
    if not out:
        return None
    parts = (p for part in request.node.nodeid.split("::") for p in part.split("/"))
    named = ("".join(c if c.isalnum() or c in "-_." else "-" for c in part) for part in parts)
    return Path(out, *named)


def _repeat(request: pytest.FixtureRequest) -> str:
    """The command that plays the test again, from the folder in which pytest was started."""
    _, _, name = request.node.nodeid.partition("::")
    path = os.path.relpath(request.path, request.config.invocation_params.dir)
    return shlex.join(["pytest", f"{path}::{name}"])


_NOT_APPLICABLE = "harness_not_applicable"


def _note(node: pytest.Item, reasons: Sequence[str]) -> None:
    """Keep why runs of a test are not applicable, for the summary; xdist passes it on."""
    node.user_properties += [(_NOT_APPLICABLE, reason) for reason in reasons]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many runs were not applicable, and why."""
    from harness.core.values.visible_text import visible

    reports = (r for found in terminalreporter.stats.values() for r in found)
    calls = (r for r in reports if getattr(r, "when", "") == "call")
    said = (p for report in calls for p in report.user_properties)
    counts = Counter(str(reason) for name, reason in said if name == _NOT_APPLICABLE)
    for reason, number in counts.most_common():
        runs = "1 run" if number == 1 else f"{number} runs"
        terminalreporter.write_line(visible(f"loop-harness: {runs} not applicable: {reason}"))


def _fail_on(config: pytest.Config) -> FindingClass | None:
    """The class from which on findings fail, by the option or the ini key."""
    from harness.core.values.errors import InputError
    from harness.core.values.verdict import CLASSES

    given = config.getoption("--harness-fail-on") or config.getini("harness_fail_on")
    if given and given not in CLASSES:
        what = f"{given!r} is no class of findings; {', '.join(CLASSES)} are"
        raise InputError(what, "harness_fail_on")
    return given or None


def _profile(config: pytest.Config, named: str) -> Profile:
    """The profile of a name or file; without one that of the option, the ini key, or the
    configuration."""
    given = config.getoption("--harness-profile") or config.getini("harness_profile") or ""
    found: Configuration = config.stash[_CONFIGURATION]
    return found.chosen_profile(named or given, config.rootpath)


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> Cassettes:
    """A model that plays a cassette or records it: see `Cassettes`."""
    mode: str = request.config.getoption("--harness-record")
    return Cassettes(request.path.parent, request.node.name, request.node.nodeid, mode)


@pytest.fixture
def fake_model(request: pytest.FixtureRequest) -> FakeModel:
    """A model that the test scripts in line: see `harness.FakeModel`.

    A test that passes and leaves something unplayed, or asks something that is not in order, fails.
    """
    from harness.runner.fake_model import FakeModel

    out = _folder_of(request, request.config.getoption("--harness-out"))
    return FakeModel(request.node.name, fail_on=request.config.stash[_FAIL_ON], out=out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Verify the fake model of a test that raised nothing."""
    yield
    fake: FakeModel | None = getattr(item, "funcargs", {}).get("fake_model")
    if fake is not None and hasattr(fake, "is_owed") and fake.is_owed:
        verify(fake, whole=item.config.get_verbosity() > 0)
