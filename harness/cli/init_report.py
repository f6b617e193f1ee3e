"""What `harness init` prints: the agent, the files, the first scenario, and what to type next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli import terminal
from harness.redaction.encoder import json_line
from harness.starter.candidate import KINDS, Candidate
from harness.starter.starter_files import EXAMPLE, PRE_COMMIT, template

if TYPE_CHECKING:
    from harness.doctor.probe import Observation
    from harness.scratch import ScratchWorld
    from harness.starter.project import Survey
    from harness.starter.starter_files import Piece, Setup, Starter

_OTHERS_MOST = 3
_LIMIT_S = 120.0


class InitReport:
    """Prints each step when it is done; with `as_json` one object a line."""

    def __init__(self, as_json: bool, dry_run: bool) -> None:
        self._as_json, self._dry_run, self._probed = as_json, dry_run, False
        self._paint = terminal.paint()

    def _out(self, text: str = "") -> None:
        if not self._as_json:
            terminal.out(text)

    def found(self, one: Candidate, survey: Survey) -> None:
        """Print the agent, and the other candidates."""
        if one == EXAMPLE:
            self._out(
                "This folder has no agent: it gets a small one, with a defect, to begin with."
            )
            return
        libraries = ", ".join(dict.fromkeys(row.title for row in survey.libraries))
        made = f" ({libraries})" if libraries else ""
        self._out(f"agent: {one.spec}, {KINDS[one.kind]}, {one.path}:{one.line}{made}")
        others = [other.spec for other in survey.candidates if other != one]
        if others:
            more = len(others) - _OTHERS_MOST
            said = ", ".join(others[:_OTHERS_MOST]) + (f" and {more} more" if more > 0 else "")
            self._out(f"  others, for --target: {said}")

    def probing(self, target: str) -> None:
        """Print that the probes begin; they take some seconds."""
        terminal.note(f"probing {target} ...")

    def outside(self, lines: Sequence[str]) -> None:
        """Print what the agent changed or met outside of the copy in which it was played."""
        for line in lines:
            if self._as_json:
                terminal.out(json_line({"outside": line}))
            else:
                self._out(f"  attention, outside of the copy: {line}")

    def probed(self, wire: str, observations: Sequence[Observation]) -> None:
        """Print what the probes showed."""
        from harness.doctor.probe import SEPARATE_RUNS

        self._probed = True
        seen = [one.item for one in observations if one.part == "connections"
                and one.state == "seen" and one.item != wire]  # fmt: skip
        self._out(f"probes: it speaks {wire}; seen: {', '.join(seen)}")
        for one in observations:
            if (one.item, one.state) == (SEPARATE_RUNS, "not seen"):
                self._out(f"  attention: {one.what} ({one.see})")

    def silent(self, setup: Setup, rows: Sequence[Observation]) -> None:
        """Print that the agent calls no model, with the reason if it is known."""
        why = next((f": {one.why}" for one in rows if one.why), "")
        terminal.note(
            f"{setup.target} calls no model on any wire{why}\n"
            "  nothing is written; name another function with --target MODULE:FUNCTION, or\n"
            f"  see the results of the probes: harness doctor --target '{setup.target}'\n"
            "  the probes play in a copy, with an empty home folder; --in-place plays here"
        )

    def pieces(self, pieces: Sequence[Piece]) -> None:
        """Print what is done to each file."""
        self._out()
        column = max(len(piece.path) for piece in pieces) + 2
        for piece in pieces:
            self._piece(piece, column)
        if self._dry_run:
            self._out("\nnothing is written: this was a dry run; --json has the texts")
            if not self._probed:
                self._out("the probes choose the scenario and fill in the profile: --probe")

    def _piece(self, piece: Piece, column: int) -> None:
        word = "not written" if piece.state in ("elsewhere", "no source") else piece.state
        state = f"to be {word}" if self._dry_run and piece.is_written else word
        if self._as_json:
            shown = piece.text if self._dry_run or piece.state in ("kept", "elsewhere") else ""
            line = {"path": piece.path, "state": state, "what": piece.what, "text": shown}
            terminal.out(json_line(line))
            return
        padded = f"{state:<{17 if self._dry_run else 13}}"
        if piece.state != "unchanged":
            padded = self._paint("pass" if word in ("written", "extended") else "unknown", padded)
        self._out(f"  {padded}{piece.path:<{column}}{_said(piece)}")
        if piece.path == PRE_COMMIT and piece.state in ("kept", "elsewhere"):
            _, _, entry = piece.text.partition("repos:\n")
            self._out("\n".join(f"      {line}" for line in entry.splitlines()))

    def play(
        self, starter: Starter, told: str, world: ScratchWorld | None, *, is_example: bool
    ) -> None:
        """Play the first scenario as a user would, and print how to fix its finding."""
        from harness.cli.child_command import child_command

        command = ["run", starter.path]
        self._out(f"\n{self._paint('strong', '$ harness ' + ' '.join(command))}\n")
        more = ["--json"] if self._as_json else []
        words = ["-m", "harness", *command, *more]
        # Not our own stream: a crash there would name the files of the copy.
        ended = child_command(words, _LIMIT_S, shows_notes=True, world=world)
        for line in ended.out.splitlines():
            terminal.out(line)
        if ended.status == 1:
            self._out(f"\nto fix it: {starter.mend}")
            if is_example:
                self._out(_EXAMPLE_MEND + template("mend.txt").rstrip())
            elif told:
                self._out(
                    f"  an error message that your program shows to its user: add it to {told}"
                )

    def next(self, pieces: Sequence[Piece], target: str, *, wants_skill: bool) -> None:
        """Print the commands to type next; `wants_skill` offers the skill for coding agents."""
        is_new = any(piece.is_written for piece in pieces)
        (test,) = (p.path for p in pieces if p.path.endswith("test_harness.py"))
        commands = ["harness run scenarios", f"pytest {test}", "harness fuzz --minutes 5"]
        commands += ["harness init --skill"] * wants_skill
        if self._as_json:
            line = {"target": target, "changed": is_new, "next": commands}
            terminal.out(json_line(line))
            return
        if not is_new:
            self._out("\nno changes: the project is set up already")
        self._out("\nnext:\n" + "\n".join(f"  {command}" for command in commands))


_EXAMPLE_MEND = (
    "in `answer` of agent.py: `failures = 0` above `while True:`, and below `results = ...`\n\n"
)


def _said(piece: Piece) -> str:
    if piece.state == "kept":
        return "it exists and differs; --dry-run --json has the new text, --force replaces it"
    if piece.state == "replaced":
        return "it had other contents"
    if piece.state == "elsewhere":
        return "it belongs in the root folder of the repository, above this one"
    if piece.state == "no source":
        return "no other machine has the source of this loop-harness: name one by --requirement"
    return piece.what
