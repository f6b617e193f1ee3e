"""The fixture `play`: plays the runs of a scenario in a test, and fails the test.

Modules are imported when a test first plays, so a session without scenarios loses no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from harness.core.values.errors import InputError, nearest
from harness.pytest_plugin.failure_text import fail, mistakes_told, report, skip
from harness.pytest_plugin.play_settings import NOTHING, PlaySettings, checked

if TYPE_CHECKING:
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.profile import Profile
    from harness.core.values.verdict import Finding, FindingClass
    from harness.runner import Run
    from harness.runner.needs import World


class Runs(Sequence["Run"]):
    """The runs of one `play`, in the order of the scenario file."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        """Return a run by its index."""
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        """The text of all runs in a snapshot: `assert runs == snapshot` with syrupy."""
        return "\n\n".join(map(repr, self._runs))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all runs."""
        return tuple(finding for run in self._runs for finding in run.verdict.findings)

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all findings."""
        return frozenset(finding.code for finding in self.findings)


class Play:
    """The value of the fixture `play`: call it with a scenario and an agent."""

    def __init__(
        self,
        folders: Sequence[Path],
        settings: PlaySettings = NOTHING,
        *,
        out: Path | None = None,
        profiles: Callable[[str], Profile] | None = None,
        note: Callable[[Sequence[str]], None] = lambda reasons: None,
        isolate: bool = False,
        whole: bool = False,
        files_from: tuple[str, ...] = (),
        repeat: str = "",
        seen: Callable[[Sequence[Run], frozenset[str]], None] = lambda runs, wanted: None,
    ) -> None:
        self._folders, self._settings, self._out = folders, settings, out
        self._profiles, self._note, self._isolate = profiles, note, isolate
        self._whole, self._files_from, self._repeat = whole, files_from, repeat
        self._seen = seen

    def __call__(
        self,
        scenario: str | Path | Scenario | tuple[Scenario, ...],
        agent: object = None,
        *,
        chat: Callable[[str], object] | None = None,
        variant: str | None = None,
        wire: str | None = None,
        stream: bool | None = None,
        world: World | None = None,
        expect: str | Sequence[str] = (),
        reply: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
        orders: Mapping[int, int] | None = None,
        check: bool = True,
        seed: int | None = None,
        store: str = "",
        profile: str | Profile = "",
        fail_on: FindingClass | None = None,
        options: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> Runs:
        """Play every run of `scenario` (a path, or values) against `agent`, and judge them.

        A path is looked up in the test's folder, then in the root of the tests; `@loops/circles` is
        bundled, and `@loops` is its whole folder. `agent` is a function of its brief or a target's
        specification; the default is that of the marker, the command line, the ini file or the
        profile. `chat` in its place is a function from the user's text to the answer, sync or
        async; its own clients find the model at the provider's URL. `variant` plays only the runs
        of that variant ("" is the baseline). `wire` and `stream` play only those on that wire,
        streamed or not; if the file has none, its runs are changed to these. Without `wire` each
        scenario is played once, on a wire that the agent speaks; `wire="all"` plays it on each.
        `world` is `simulate` or `supervise`.

        The test fails unless every run passes. With `expect` (a code or several) each run must have
        each of these findings, and no other one that fails it. `reply` asks for words that the user
        reads, as `expect.reply` of a file does: `reply={"has": "42", "turn": 2}`, or several.
        `orders` say who goes first where several things could go on at one moment: `{3: 2}` lets
        the second in line go first at the third point of choice; `{}` only counts the points.
        `check=False` leaves the verdict to the test. Runs that need a capability which none of them
        used are not applicable, and a test without other runs is skipped. `profile` is a configured
        name, a file or a value; without one the option `--harness-profile` or the configuration
        names it. Findings of the class `fail_on` (`defect`, `weakness`, `advice`) and worse fail a
        run; the default is that of `--harness-fail-on`, the scenario or the profile. The agent gets
        `options` as `brief.options`. An unknown keyword fails the test. The marker
        `@pytest.mark.harness` may set a keyword that is not given.
        """
        __tracebackhide__ = True
        from harness.files.mistakes import look_up

        wanted = frozenset([expect] if isinstance(expect, str) else expect) - {""}
        given = {
            "wire": wire, "stream": stream, "world": world, "seed": seed, "store": store or None,
            "profile": profile or None, "fail_on": fail_on, "options": options,
        }  # fmt: skip
        with mistakes_told():
            look_up([*unknown], [*(Play.__call__.__kwdefaults__ or ())], wanted)
            settings = checked(given, "play").over(self._settings)
            found = self._wanted(settings, scenario, variant, reply, orders)
            runs = self._runs(settings, found, agent, chat)
        return self._judged(runs, wanted, check)

    def _wanted(
        self,
        settings: PlaySettings,
        scenario: str | Path | Scenario | tuple[Scenario, ...],
        variant: str | None,
        reply: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        orders: Mapping[int, int] | None,
    ) -> list[Scenario]:
        from harness.files.scenario_values import with_orders, with_replies

        found = [each.failing_on(settings.fail_on) for each in self._scenarios(scenario, variant)]
        found = [with_replies(each, reply) for each in found] if reply else found
        return found if orders is None else [with_orders(each, orders) for each in found]

    def _runs(
        self,
        settings: PlaySettings,
        scenarios: list[Scenario],
        agent: object,
        chat: Callable[[str], object] | None,
    ) -> list[Run]:
        from harness.pytest_plugin.played_as import spoken

        profile = self._profile(settings.profile or "")
        if agent is None and chat is None:
            agent = settings.target or (profile.target if profile else "") or None
        wires = settings.wires or (profile.wires if profile else ())
        found = spoken(scenarios, wires, settings.stream)
        return _played(found, agent, chat, self._runner(settings, profile), settings)

    def _judged(self, runs: list[Run], wanted: frozenset[str], check: bool) -> Runs:
        """Fail or skip the test according to the verdicts.

        It is skipped when none of its runs is applicable."""
        __tracebackhide__ = True
        from harness.runner.capability_ledger import settled

        runs = runs if wanted else settled(runs)
        self._seen(runs, wanted)
        wrong = [made for made in runs if not _as_expected(made, wanted)] if check else []
        unasked = [made.verdict for made in runs if made.verdict.verdict == "not_applicable"]
        reasons = ["; ".join(lack.reason for lack in each.not_applicable) for each in unasked]
        self._note(reasons)
        if wrong:
            fail(report(wrong, wanted, self._repeat, self._whole))
        if check and reasons and len(reasons) == len(runs):
            skip("; ".join(dict.fromkeys(reasons)))
        return Runs(runs)

    def _runner(self, settings: PlaySettings, profile: Profile | None) -> Callable[..., Run]:
        from harness.runner import run

        return partial(
            run, seed=settings.seed, out=self._out, store=settings.store or "",
            options=dict(settings.options or {}), profile=profile, isolate=self._isolate,
            world=settings.world, keep=profile is not None and profile.keep,
        )  # fmt: skip

    def _profile(self, named: str | Profile) -> Profile | None:
        from harness.core.values.profile import NO_PROFILE

        if not isinstance(named, str):
            return named
        found = self._profiles(named) if self._profiles else NO_PROFILE
        return None if found == NO_PROFILE else found

    def _scenarios(
        self, scenario: str | Path | Scenario | tuple[Scenario, ...], variant: str | None
    ) -> Iterator[Scenario]:
        from harness.files import find_scenarios, load_scenarios
        from harness.files.scenario_values import checked_scenario

        if not isinstance(scenario, (str, Path)):
            values = scenario if isinstance(scenario, tuple) else (scenario,)
            yield from map(checked_scenario, values)
            return
        files = find_scenarios([self._path(scenario)])
        found = [one for file in files for one in load_scenarios(file, self._files_from)]
        if variant is not None and variant not in (names := {s.variant for s in found}):
            raise InputError(f"no variant {variant!r}; {nearest(variant, names)}", str(scenario))
        yield from (s for s in found if variant in (None, s.variant))

    def _path(self, scenario: str | Path) -> Path:
        """Return the file or folder that a test names: of the catalogue, or in its own folders."""
        from harness.files.bundle import MARK, named_path

        if str(scenario).startswith(MARK):
            return named_path(str(scenario))
        path = next((f / scenario for f in self._folders if (f / scenario).exists()), None)
        if path is None:
            folders = ", ".join(dict.fromkeys(map(str, self._folders)))
            raise InputError(f"no such scenario file; looked in {folders}", str(scenario))
        return path


def _played(
    scenarios: Sequence[Scenario],
    agent: object,
    chat: Callable[[str], object] | None,
    run_one: Callable[..., Run],
    settings: PlaySettings,
) -> list[Run]:
    from harness.pytest_plugin.played_as import agent_of, beside_any_loop, on_one_wire
    from harness.targets.spec import resolve

    given = agent_of(agent, chat)
    target = resolve(given) if isinstance(given, str) else given

    def play(scenario: Scenario) -> Run:
        return run_one(scenario, target)

    each = map(play, scenarios) if settings.plays_every_wire else on_one_wire(scenarios, play)
    return beside_any_loop(lambda: [*each])


def _as_expected(run: Run, wanted: frozenset[str]) -> bool:
    if not wanted:
        return run.verdict.verdict in ("pass", "not_applicable")
    found = {finding.code for finding in run.verdict.findings}
    return {finding.code for finding in run.verdict.failing} <= wanted <= found
