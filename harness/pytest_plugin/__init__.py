"""The pytest plugin: fixtures, scenario files as items, options and ini keys.

Plug-ins are loaded at session start, in each pytest-xdist worker too. All else is imported when a
test first plays.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.core.values.errors import InputError
from harness.files.bundle import shown
from harness.pytest_plugin import play_settings, scenario_items, session_model, session_page
from harness.pytest_plugin.cassette_fixture import Cassettes as Cassettes
from harness.pytest_plugin.failure_text import mistakes_told, seen, verify
from harness.pytest_plugin.play_fixture import Play as Play
from harness.pytest_plugin.play_fixture import Runs as Runs
from harness.pytest_plugin.play_settings import PlaySettings

if TYPE_CHECKING:
    from harness.configuration import Configuration
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.profile import Profile
    from harness.runner import Run
    from harness.runner.fake_model import FakeModel


_SETTINGS = pytest.StashKey["PlaySettings"]()
_CONFIGURATION = pytest.StashKey["Configuration"]()
_SCENARIOS, _WALKED = pytest.StashKey[frozenset[Path]](), pytest.StashKey[set[Path]]()
_BUNDLED = pytest.StashKey[frozenset[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options `--harness-*`, and the ini keys `harness_*`."""
    play_settings.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Load the plug-ins that the root folder configures, the installed ones, and those of the ini.

    Raises pytest.UsageError for an unusable plug-in, and for a wrong option or ini key.
    """
    from harness.plugins import configured

    config.addinivalue_line("markers", play_settings.MARKER_HELP)
    reads_config = not config.getoption("--harness-no-config")
    try:
        plugins = config.getini("harness_plugins")
        found = configured(plugins, config=reads_config, folder=config.rootpath)
        settings = play_settings.configured(config)
        is_strict = play_settings.true_or_false(config.getini("harness_vcr"), "harness_vcr")
        session_page.configure(config)
        session_model.begin(config)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[_CONFIGURATION] = found
    config.stash[_SETTINGS] = settings.over(PlaySettings(seed=found.seed))
    config.stash[_BUNDLED] = frozenset()
    config.stash[_SCENARIOS], config.stash[_WALKED] = _scenarios_named(config), set()
    if is_strict:
        from harness.pytest_plugin import vcr_suite

        vcr_suite.begin(config)


def _scenarios_named(config: pytest.Config) -> frozenset[Path]:
    """Return the files that patterns name; pytest walks them too if no path is given."""
    more = config.getoption("--harness-scenarios")
    patterns = [*config.getini(scenario_items.KEY), *more]
    if not patterns:
        return frozenset()
    try:
        found = scenario_items.matched(patterns, config.rootpath)
        if not _has_target(config):
            raise InputError(scenario_items.TARGETLESS, scenario_items.KEY)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    is_part = config.args_source is pytest.Config.ArgsSource.ARGS
    is_whole = not is_part and config.rootpath == config.invocation_params.dir
    owed = patterns if is_whole else more
    bundled = filter(scenario_items.is_bundled, more if is_part else patterns)
    config.stash[_BUNDLED] = scenario_items.matched(bundled, config.rootpath)
    own = [pattern for pattern in owed if not scenario_items.is_bundled(pattern)]
    config.args += scenario_items.folders_of(own, config.rootpath, config.args)
    return found


def _has_target(config: pytest.Config) -> bool:
    """Whether the session names an agent. Raises InputError for a profile that cannot be used."""
    return bool(config.stash[_SETTINGS].target or _chosen_profile(config).target)


def _chosen_profile(config: pytest.Config) -> Profile:
    return _profile(config, config.stash[_SETTINGS].profile or "")


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> scenario_items.ScenarioFile | None:
    """Collect a scenario file that a pattern or the command line names."""
    config = parent.config
    if file_path not in config.stash[_SCENARIOS]:
        has_target = config.stash[_SETTINGS].target is not None
        if not scenario_items.is_named(file_path, parent, has_target):
            return None
    name = scenario_items.node_name(file_path, config.rootpath)
    return _scenario_file(parent, file_path, name)


def _scenario_file(parent: pytest.Collector, path: Path, name: str) -> scenario_items.ScenarioFile:
    parent.config.stash[_WALKED].add(path)
    runs = partial(_runs_of, parent.config)
    return scenario_items.ScenarioFile.from_parent(
        parent, path=path, nodeid=name, runs=runs, play=_play_item
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the scenarios of the catalogue.

    They are mostly installed in an environment, which pytest does not walk."""
    bundled: frozenset[Path] = config.stash[_BUNDLED]
    for path in sorted(bundled):
        items += session.genitems(_scenario_file(session, path, shown(path)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Warn of scenario files that a pattern names but pytest does not walk."""
    config = session.config
    is_part = config.args_source is pytest.Config.ArgsSource.ARGS
    found = () if is_part else config.stash[_SCENARIOS]
    walked: set[Path] = config.stash[_WALKED]
    if said := scenario_items.unwalked(found, walked):
        warnings.warn(pytest.PytestCollectionWarning(said), stacklevel=1)


def _runs_of(config: pytest.Config, path: Path) -> Sequence[tuple[Scenario, ...]]:
    """Return the runs of a scenario file on the wires of the session, or of the profile.

    Those that differ in their wire only are one item, unless all wires are asked for."""
    from harness.comparison.writings import courses
    from harness.files import load_scenarios
    from harness.pytest_plugin.played_as import spoken

    settings, profile = config.stash[_SETTINGS], _chosen_profile(config)
    wires = settings.wires or profile.wires
    found = load_scenarios(path, config.stash[_CONFIGURATION].files_from)
    if not _has_target(config):
        raise InputError(scenario_items.TARGETLESS, str(path))
    runs = spoken(found, wires, settings.stream)
    return [(run,) for run in runs] if settings.plays_every_wire else courses(runs)


def _play_item(item: scenario_items.ScenarioItem) -> None:
    __tracebackhide__ = True
    play_of(item, ())(item.runs)


@pytest.fixture
def play(request: pytest.FixtureRequest) -> Play:
    """Play scenarios against an agent: see `Play`."""
    folders = (request.path.parent, request.config.rootpath, request.config.invocation_params.dir)
    return play_of(request.node, folders)


def play_of(item: pytest.Item, folders: Sequence[Path]) -> Play:
    """Return the fixture value that plays scenarios for a test, with the test's settings."""
    config, settings = item.config, _settings(item)
    return Play(
        folders, settings, out=_folder_of(item), profiles=partial(_profile, config),
        note=partial(_note, item), isolate=config.getoption("--harness-isolate"),
        whole=config.get_verbosity() > 0, files_from=config.stash[_CONFIGURATION].files_from,
        repeat=play_settings.repeat_command(item, settings), seen=partial(_seen, item),
    )  # fmt: skip


def _seen(item: pytest.Item, runs: Sequence[Run], wanted: frozenset[str] = frozenset()) -> None:
    """Add the runs of a test to the page of the session, if there is one."""
    if page := session_page.page_of(item.config):
        page.add(item, play_settings.repeat_command(item), runs, wanted)


def _settings(item: pytest.Item) -> PlaySettings:
    """Return the settings of a test's markers, completed by those of the session."""
    with mistakes_told():
        found = play_settings.marked(item)
    return found.over(item.config.stash[_SETTINGS])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse an unusable marker, even if the test plays nothing."""
    if item.get_closest_marker(play_settings.MARKER):
        _settings(item)


def _folder_of(item: pytest.Item) -> Path | None:
    """Return the folder for a test's histories.

    It has the test's name, so that tests do not overwrite each other's histories."""
    out: str | None = item.config.getoption("--harness-out")
    if not out:
        return None
    parts = (p for part in item.nodeid.split("::") for p in part.split("/"))
    named = ("".join(c if c.isalnum() or c in "-_." else "-" for c in part) for part in parts)
    return Path(out, *named)


_NOT_APPLICABLE = "harness_not_applicable"


def _note(node: pytest.Item, reasons: Sequence[str]) -> None:
    """Keep why runs of a test are not applicable, for the summary; xdist passes it on."""
    node.user_properties += [(_NOT_APPLICABLE, reason) for reason in reasons]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many runs were not applicable, and why."""
    from harness.core.values.visible_text import visible

    reports = (r for found in terminalreporter.stats.values() for r in found)
    calls = (r for r in reports if getattr(r, "when", "") == "call")
    said = (p for report in calls for p in report.user_properties)
    counts = Counter(str(reason) for name, reason in said if name == _NOT_APPLICABLE)
    for reason, number in counts.most_common():
        runs = "1 run" if number == 1 else f"{number} runs"
        terminalreporter.write_line(visible(f"loop-harness: {runs} not applicable: {reason}"))


def _profile(config: pytest.Config, named: str) -> Profile:
    """Return the profile of a name or file; without one, that of the configuration."""
    found: Configuration = config.stash[_CONFIGURATION]
    return found.chosen_profile(named, config.rootpath)


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> Cassettes:
    """A model that plays a cassette or records it: see `Cassettes`."""
    mode: str = request.config.getoption("--harness-record")
    return Cassettes(request.path.parent, request.node.name, request.node.nodeid, mode)


@pytest.fixture
def fake_model(request: pytest.FixtureRequest) -> FakeModel:
    """A model that the test scripts in line: see `harness.FakeModel`.

    A passing test fails if an answer is unplayed or a request is invalid.
    """
    from harness.runner.fake_model import FakeModel

    item, settings = request.node, _settings(request.node)
    named = settings.profile or ""
    with mistakes_told():
        profile = _profile(item.config, named) if isinstance(named, str) else named
    made = FakeModel(
        item.name, wire="".join(settings.wires), checks=profile.checks, out=_folder_of(item),
        fail_on=settings.fail_on or profile.fail_on,
    )  # fmt: skip
    made.at, made.folder = session_model.url_of(item.config), request.path.parent
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Verify the fake model of a test that raised nothing; of a failing test, print findings."""
    try:
        yield
        if (fake := _fake_of(item)) and fake.is_owed:
            verify(fake, play_settings.repeat_command(item), whole=item.config.get_verbosity() > 0)
    except Exception:
        fake = _fake_of(item)
        said = seen(fake, play_settings.repeat_command(item)) if fake and fake.is_owed else ""
        if said:
            item.add_report_section("call", "fake_model", said)
        raise
    finally:
        fake = _fake_of(item) if session_page.page_of(item.config) else None
        run = fake.judged() if fake is not None else None
        _seen(item, [run] if run else [])


def _fake_of(item: pytest.Item) -> FakeModel | None:
    """Return the fake model of a test; None without one, or for another fixture of that name."""
    fake: FakeModel | None = getattr(item, "funcargs", {}).get("fake_model")
    return fake if fake is not None and hasattr(fake, "is_owed") else None
