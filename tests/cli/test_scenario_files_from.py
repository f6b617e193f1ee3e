"""The key `files-from` of the configuration, and links in a folder of scenarios."""

from __future__ import annotations

from pathlib import Path

from tests.cli.talks import REFERENCE, Command
from tests.runner.test_scenario_paths import SESSION

RUN = ("run", "scenarios/peeping.yaml", "--target", REFERENCE)


def test_the_command_reads_the_key(in_process: Command, talks: Path) -> None:
    (talks / "secret").write_text(SESSION)
    (talks / "scenarios/peeping.yaml").write_text(
        "{name: peeping, session: {file: ../secret}, inbox: hi, script: [{say: hi}]}"
    )
    done = in_process(*RUN)
    assert done.status == 2
    assert "peeping: ../secret: outside the scenario's folder" in done.err
    (talks / "harness.toml").write_text('files-from = ["."]\n')
    assert in_process(*RUN).status == 0
    assert in_process(*RUN, "--no-config").status == 2


def test_a_link_out_of_a_folder_of_scenarios_is_not_followed_and_said(
    in_process: Command, talks: Path
) -> None:
    (talks / "elsewhere.yaml").write_text("{name: elsewhere, inbox: hi, script: [{say: hi}]}")
    (talks / "scenarios/elsewhere.yaml").symlink_to(talks / "elsewhere.yaml")
    (talks / "far").mkdir()
    (talks / "scenarios/far").symlink_to(talks / "far")
    done = in_process("list", "scenarios")
    assert "elsewhere" not in done.out
    assert done.err.splitlines() == [
        f"scenarios/{name}: a link out of the folder, not followed"
        for name in ("elsewhere.yaml", "far")
    ]
