"""The fixture `play`: the runs of a scenario in a test, and what the test fails with.

Everything is imported when a test first plays, so that a session without scenarios pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from harness.pytest_plugin.failure_text import fail, report, skip

if TYPE_CHECKING:
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.profile import Profile
    from harness.core.values.verdict import Finding, FindingClass
    from harness.runner import Run
    from harness.runner.applicability import World


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
        profiles: Callable[[str], Profile] | None = None,
        fail_on: FindingClass | None = None,
        note: Callable[[Sequence[str]], None] = lambda reasons: None,
        isolate: bool = False,
        whole: bool = False,
        files_from: tuple[str, ...] = (),
        repeat: str = "",
    ) -> None:
        self._folders, self._seed, self._out = folders, seed, out
        self._profiles, self._fail_on, self._note = profiles, fail_on, note
        self._isolate, self._whole, self._files_from = isolate, whole, files_from
        self._repeat = repeat

    def __call__(
        self,
        scenario: str | Path | Scenario,
        agent: object = None,
        *,
        chat: Callable[[str], object] | None = None,
        variant: str | None = None,
        wire: str | None = None,
        stream: bool | None = None,
        world: World | None = None,
        expect: str | Sequence[str] = (),
        check: bool = True,
        seed: int | None = None,
        store: str = "",
        profile: str | Profile = "",
        fail_on: FindingClass | None = None,
        options: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> Runs:
        """Play every run of `scenario` (a path, or a value) against `agent`, and judge them.

        A path is looked up in the test's folder, then in the root of the tests. `agent` is a
        function of its brief or a target's specification. `chat` in its place is a function from
        the user's text to the answer, sync or async: its own clients find the model at the
        provider's URL (extra `respx`). `variant` plays only the runs of that variant ("" is the
        baseline), `wire` and `stream` those on that wire, streamed or not; where the file has none,
        its runs are played so. `world` is `simulate` or `supervise`.

        The test fails unless every run passes; with `expect` (a code or several) it fails unless
        each is found in every run, and no other one that fails it; `check=False` leaves the verdict
        to the test. Runs that need a capability which none of them used are not applicable, and a
        test without other runs is skipped. `profile` is a configured name, a file or a value;
        without one the option `--harness-profile` or the configuration names it. Findings of the
        class `fail_on` (`defect`, `weakness`, `advice`) and worse fail a run; without it those that
        `--harness-fail-on`, the scenario or the profile says. `options` reach the agent as
        `brief.options`. An unknown keyword fails the test.
        """
        __tracebackhide__ = True
        from harness.core.values.errors import InputError
        from harness.files.mistakes import look_up

        wanted = frozenset([expect] if isinstance(expect, str) else expect) - {""}
        mistake, runs = "", []
        try:
            look_up([*unknown], [*(Play.__call__.__kwdefaults__ or ())], wanted)
            chosen = self._chosen(scenario, variant, wire, stream, fail_on)
            run_one = self._runner(seed, store, dict(options or {}), profile, world)
            runs = _played(chosen, agent, chat, run_one)
        except InputError as error:
            mistake = f"error: {error}"
        if mistake:
            fail(mistake)
        return self._judged(runs, wanted, check)

    def _judged(self, runs: list[Run], wanted: frozenset[str], check: bool) -> Runs:
        """Fail or skip the test where the verdicts say so."""
        __tracebackhide__ = True
        from harness.runner.capability_ledger import settled

        runs = runs if wanted else settled(runs)
        wrong = [made for made in runs if not _as_expected(made, wanted)] if check else []
        self._note(reasons := [_reason(made) for made in runs if _is_unasked(made)])
        if wrong:
            said = report(wrong, wanted, self._repeat, self._whole)
            fail(said)
        _skip_unasked(reasons, len(runs) if check else 0)
        return Runs(runs)

    def _chosen(
        self,
        scenario: str | Path | Scenario,
        variant: str | None,
        wire: str | None,
        stream: bool | None,
        fail_on: FindingClass | None,
    ) -> list[Scenario]:
        from harness.files.mistakes import class_named
        from harness.pytest_plugin.played_as import spoken

        line = class_named(fail_on) or self._fail_on
        found = spoken(list(self._scenarios(scenario, variant)), wire, stream)
        return [each.failing_on(line) for each in found]

    def _runner(
        self,
        seed: int | None,
        store: str,
        options: dict[str, Any],
        profile: str | Profile,
        world: World | None,
    ) -> Callable[..., Run]:
        from harness.runner import run

        chosen = self._profile(profile)
        return partial(
            run, seed=self._seed if seed is None else seed, out=self._out, store=store,
            options=options, profile=chosen, isolate=self._isolate, world=world,
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


def _played(
    scenarios: Sequence[Scenario],
    agent: object,
    chat: Callable[[str], object] | None,
    run_one: Callable[..., Run],
) -> list[Run]:
    from harness.pytest_plugin.played_as import agent_of, beside_any_loop, dummy_keys
    from harness.targets.spec import resolve

    given = agent_of(agent, chat)
    target = resolve(given) if isinstance(given, str) else given
    with dummy_keys() if chat else nullcontext():
        return beside_any_loop(lambda: [run_one(each, target) for each in scenarios])


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
        skip("; ".join(dict.fromkeys(reasons)))
