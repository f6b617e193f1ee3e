"""The pytest plugin: the fixtures `play` and `cassette`, six options and three ini keys.

Plug-ins are loaded at session start, in each pytest-xdist worker too. Everything else is imported
when a test first plays.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pytest

if TYPE_CHECKING:
    from harness.configuration import Configuration
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.brief import Brief
    from harness.core.values.profile import Profile
    from harness.core.values.verdict import Finding, FindingClass
    from harness.runner import Run


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
    plugins = config.getini("harness_plugins")
    profiles, note = partial(_profile, config), partial(_note, request.node)
    isolate = config.getoption("--harness-isolate")
    whole, more = config.get_verbosity() > 1, config.stash[_CONFIGURATION].files_from
    return Play(
        folders, seed, Path(out) if out else None, plugins, profiles, config.stash[_FAIL_ON], note,
        isolate, whole, more,
    )  # fmt: skip


_NOT_APPLICABLE = "harness_not_applicable"


def _note(node: pytest.Item, reasons: Sequence[str]) -> None:
    """Keep why runs of a test are not applicable, for the summary; xdist passes it on."""
    node.user_properties += [(_NOT_APPLICABLE, reason) for reason in reasons]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many runs were not applicable, and why."""
    reports = (r for found in terminalreporter.stats.values() for r in found)
    calls = (r for r in reports if getattr(r, "when", "") == "call")
    said = (p for report in calls for p in report.user_properties)
    counts = Counter(str(reason) for name, reason in said if name == _NOT_APPLICABLE)
    for reason, number in counts.most_common():
        runs = "1 run" if number == 1 else f"{number} runs"
        terminalreporter.write_line(f"loop-harness: {runs} not applicable: {reason}")


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


class Runs(Sequence["Run"]):
    """The runs of one `play`, in the order of the scenario file."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        """A run by its index."""
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        """All runs as a snapshot keeps them: `assert runs == snapshot` with syrupy."""
        return "\n\n".join(map(repr, self._runs))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all runs."""
        return tuple(finding for run in self._runs for finding in run.verdict.findings)

    @property
    def codes(self) -> frozenset[str]:
        """The codes that were found."""
        return frozenset(finding.code for finding in self.findings)


class Play:
    """What the fixture `play` gives: call it with a scenario and an agent."""

    def __init__(
        self,
        folders: Sequence[Path],
        seed: int | None,
        out: Path | None,
        plugins: Sequence[str] = (),
        profiles: Callable[[str], Profile] | None = None,
        fail_on: FindingClass | None = None,
        note: Callable[[Sequence[str]], None] = lambda reasons: None,
        isolate: bool = False,
        whole: bool = False,
        files_from: tuple[str, ...] = (),
    ) -> None:
        self._folders, self._seed, self._out = folders, seed, out
        self._profiles, self._fail_on, self._note = profiles, fail_on, note
        self._isolate, self._whole, self._files_from = isolate, whole, files_from
        self._flags = tuple(word for module in plugins for word in ("--plugin", module))

    def __call__(
        self,
        scenario: str | Path | Scenario,
        agent: str | Callable[[Brief], Any] | Callable[[Any], Any],
        *,
        variant: str | None = None,
        expect: str | Sequence[str] = (),
        check: bool = True,
        seed: int | None = None,
        store: str = "",
        profile: str | Profile = "",
        fail_on: FindingClass | None = None,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Runs:
        """Play every run of `scenario` (a path, or a value) against `agent`, and judge them.

        A path is looked up in the test's folder, then in the root of the tests. `agent` is a
        function of its brief or a target's specification. `variant` plays only the runs of that
        variant ("" is the baseline). The test fails unless every run passes; with `expect` (a code
        or several) it fails unless each is found in every run, and no other one that fails it;
        `check=False` leaves the verdict to the test. Runs that need a capability which none of them
        used are not applicable, and a test without other runs is skipped. `profile` is a configured
        name, a file or a value; without one the option `--harness-profile` or the configuration
        names it. Findings of the class `fail_on` (`defect`, `weakness`, `advice`) and worse fail a
        run; without it those that `--harness-fail-on`, the scenario or the profile says. Other
        keywords reach the agent as `brief.options`, unless one looks like a keyword of this method;
        `options` takes those of any name.
        """
        __tracebackhide__ = True
        from harness.core.values.errors import InputError
        from harness.files.mistakes import look_up
        from harness.runner.capability_ledger import settled
        from harness.targets.spec import resolve

        wanted = frozenset([expect] if isinstance(expect, str) else expect) - {""}
        try:
            look_up([*more], [*(Play.__call__.__kwdefaults__ or ())], wanted)
            line = fail_on or self._fail_on
            chosen = [each.failing_on(line) for each in self._scenarios(scenario, variant)]
            target = resolve(agent) if isinstance(agent, str) else agent
            run_one = self._runner(seed, store, {**(options or {}), **more}, profile)
            runs = [run_one(each, target) for each in chosen]
        except InputError as error:
            pytest.fail(f"error: {error}", pytrace=False)
        runs = runs if wanted else settled(runs)
        wrong = [made for made in runs if not _as_expected(made, wanted)] if check else []
        self._note(reasons := [_reason(made) for made in runs if _is_unasked(made)])
        if wrong:
            said = _report(wrong, scenario, wanted, self._flags, self._whole)
            pytest.fail(said, pytrace=False)
        _skip_unasked(reasons, len(runs) if check else 0)
        return Runs(runs)

    def _runner(
        self, seed: int | None, store: str, options: dict[str, Any], profile: str | Profile
    ) -> Callable[..., Run]:
        from harness.runner import run

        chosen = self._profile(profile)
        return partial(
            run, seed=self._seed if seed is None else seed, out=self._out, store=store,
            options=options, profile=chosen, isolate=self._isolate,
            keep=chosen is not None and chosen.keep,
        )  # fmt: skip

    def _profile(self, named: str | Profile) -> Profile | None:
        from harness.core.values.profile import NO_PROFILE

        if not isinstance(named, str):
            return named
        found = self._profiles(named) if self._profiles else NO_PROFILE
        return None if found == NO_PROFILE else found

    def _scenarios(
        self, scenario: str | Path | Scenario, variant: str | None
    ) -> Iterator[Scenario]:
        from harness.core.values.errors import InputError, nearest
        from harness.files import load_scenarios

        if not isinstance(scenario, (str, Path)):
            yield scenario
            return
        path = next((f / scenario for f in self._folders if (f / scenario).exists()), None)
        if path is None:
            folders = ", ".join(dict.fromkeys(map(str, self._folders)))
            raise InputError(f"no such scenario file; looked in {folders}", str(scenario))
        found = load_scenarios(path, self._files_from)
        if variant is not None and variant not in (names := {s.variant for s in found}):
            raise InputError(f"no variant {variant!r}; {nearest(variant, names)}", str(path))
        yield from (s for s in found if variant in (None, s.variant))


def _as_expected(run: Run, wanted: frozenset[str]) -> bool:
    if not wanted:
        return run.verdict.verdict in ("pass", "not_applicable")
    found = {finding.code for finding in run.verdict.findings}
    return {finding.code for finding in run.verdict.failing} <= wanted <= found


def _is_unasked(run: Run) -> bool:
    return run.verdict.verdict == "not_applicable"


def _reason(run: Run) -> str:
    return "; ".join(lack.reason for lack in run.verdict.not_applicable)


def _skip_unasked(reasons: Sequence[str], runs: int) -> None:
    """Skip the test when none of its runs is applicable."""
    if runs and len(reasons) == runs:
        pytest.skip("; ".join(dict.fromkeys(reasons)))


def _report(
    runs: Sequence[Run],
    scenario: str | Path | Scenario,
    wanted: frozenset[str],
    plugin_flags: tuple[str, ...],
    whole: bool,
) -> str:
    from harness.report.command_summary import totals
    from harness.report.run_report import block, short_block
    from harness.report.run_summary import Invocation, summarize

    path = str(scenario) if isinstance(scenario, (str, Path)) else ""
    asked = partial(Invocation, path=path, plugin_flags=plugin_flags)
    summaries = [summarize(run, asked(target=run.target) if path else None) for run in runs]
    shown = block if whole else short_block
    blocks = [shown(summary, 100) for summary in summaries]
    if wanted:
        blocks.append(f"expected exactly: {', '.join(sorted(wanted))}")
    return "\n\n".join([*blocks, totals(summaries)])


class Cassettes:
    """What the fixture `cassette` gives: call it for a model that plays or records a cassette."""

    def __init__(self, folder: Path, test: str, nodeid: str, mode: str) -> None:
        self._folder, self._test, self._nodeid, self._mode = folder, test, nodeid, mode

    def __call__(
        self, name: str | Path = "", *, upstream: str = "", allow: Sequence[str] = ()
    ) -> AbstractContextManager[str]:
        """In the block, the URL of a model: `with cassette("refund") as url`.

        A name is a file below `cassettes` beside the test, `.yaml` if it has no suffix; without
        one it is the test's. In the block the environment names the URL, so `Anthropic()` and
        `OpenAI()` find it by themselves. The test fails when something else is asked than was
        recorded, when less is, and when there is no cassette and --harness-record does not ask for
        one. `upstream` is the model's API for recording, `allow` digests of what is no secret.
        """
        given = Path(name or "".join(c if c.isalnum() or c in "-_." else "-" for c in self._test))
        named = given if given.suffix else given.with_name(f"{given.name}.yaml")
        path = self._folder / "cassettes" / named
        records = self._mode == "all" or (self._mode == "once" and not path.exists())
        if not records and not path.exists():
            pytest.fail(f"no cassette {path}; record it: {self._command('once')}", pytrace=False)
        return self._model(path, records, upstream, allow)

    @contextmanager
    def _model(
        self, path: Path, records: bool, upstream: str, allow: Sequence[str]
    ) -> Iterator[str]:
        from harness.cassettes.secret_scan import secrets_of
        from harness.core.values.errors import InputError
        from harness.runner.cassette_model import NotAsRecorded, playing, recording_to
        from harness.transports.sdk_clients import model_environment
        from harness.transports.upstream import provider_access

        real: Mapping[str, str] = os.environ
        try:
            opened = (
                recording_to(
                    path, provider_access(real, upstream), secrets=secrets_of(real), allowed=allow
                )
                if records
                else playing(path)
            )
            with opened as url, pytest.MonkeyPatch.context() as patch:
                for variable, value in model_environment(url).items():
                    patch.setenv(variable, value)
                yield url
        except NotAsRecorded as error:
            again = f"record it anew: {self._command('all')}"
            pytest.fail(f"{path} is not what was asked\n{error}\n{again}", pytrace=False)
        except InputError as error:
            pytest.fail(f"error: {error}", pytrace=False)

    def _command(self, mode: str) -> str:
        return f"pytest {shlex.quote(self._nodeid)} --harness-record={mode}"
