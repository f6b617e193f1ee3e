"""What `harness explain @NAME` prints: the story of a scenario, the list of a folder, or a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.core.scenario.scenario import Scenario
from harness.files.bundle import bundled, bundled_files, shown
from harness.files.regular_file import text_of
from harness.files.scenario_file import has_script, load_scenarios
from harness.verdicts.event_lines import counted


def bundle_text(name: str) -> str:
    """Return the text for a name of the bundle. Raises InputError for an unknown name."""
    path = bundled(name)[0]
    if path.is_dir():
        return "\n".join(dict.fromkeys(map(shown, bundled_files([path]))))
    if path.suffix == ".yaml" and has_script(path):
        return "\n\n".join(_parts(path, load_scenarios(path)))
    return text_of(path).rstrip("\n")


def _parts(path: Path, runs: Sequence[Scenario]) -> Iterator[str]:
    from harness.runner.needs import needs_of

    name, first = shown(path), runs[0]
    yield f"{name}  {first.title}"
    if first.story:
        yield first.story.strip()
    seen = [text for source in first.source for text in _incident(source)]
    if seen:
        yield "\n".join(("Seen:", *seen))
    variants = ", ".join(dict.fromkeys(run.variant or "baseline" for run in runs))
    wires = ", ".join(dict.fromkeys(run.wire for run in runs))
    yield f"{counted(len(runs), 'run')}: {variants}; on {wires}"
    needs = dict.fromkeys(need for run in runs for need in needs_of(run))
    if needs:
        yield f"Its runs need: {', '.join(needs)} (harness explain @docs/profiles)"
    yield f"play it: harness run {name} --target SPEC\ncopy it: harness copy {name}"


def _incident(source: str) -> Iterator[str]:
    from harness.catalogue import incident

    if row := incident(source):
        yield f"  {source}  {row.where}: {row.symptom}"
