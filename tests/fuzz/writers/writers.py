"""The writers under fuzz: each takes a run in which a case was said, and checks what it writes."""

from __future__ import annotations

import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import msgspec
from markdown_it import MarkdownIt

from harness.cli import terminal
from harness.cli.judge_journal import JudgeJournal, Stamp, recall
from harness.cli.reports import write
from harness.core.history.history import History, decode
from harness.core.values.profile import Profile, profile_of
from harness.core.values.verdict import Cause, Finding, Verdict
from harness.core.values.visible_text import ESCAPES
from harness.doctor.probe import Observation
from harness.doctor.profile_text import profile_text
from harness.files.scenario_text import scenario_text
from harness.files.yaml_text import parse
from harness.fuzz import campaign_journal, findings
from harness.fuzz.campaign_journal import CampaignPlan, Journal
from harness.fuzz.findings import ShrunkFinding
from harness.recordings.transcripts import Refusal
from harness.redaction.encoder import encoded, reported
from harness.report.diff_screen import details, screen
from harness.report.diff_screen import json_lines as diff_lines
from harness.report.html.html_page import page, page_part
from harness.report.media import json_lines
from harness.report.media.github import github
from harness.report.media.json_lines import JsonLines
from harness.report.media.judged_files import JudgedFiles
from harness.report.media.junit import document as junit
from harness.report.media.markdown import COMMENT_MAX
from harness.report.media.markdown import document as markdown
from harness.report.media.text import EACH_RUN, Detail, Text
from harness.report.run_timeline import timeline
from harness.runner import run_folder
from harness.verdicts import baseline
from harness.verdicts.command_events import CommandFinished, CommandStarted, FileRead
from harness.verdicts.result import Result, evidence, of_history, of_transcript
from harness.verdicts.run_diff import Diff, NotCompared, Played, run_diff
from tests.fuzz.writers.hostile_values import SECRET, Case
from tests.report.fabricated import told

WIDTH = 76
_RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Said(NamedTuple):
    """A run in which a case was said."""

    case: Case
    history: History
    verdict: Verdict
    number: int = 0
    """The round; where a writer has several forms, it says which one is written."""

    @property
    def summary(self) -> Result:
        """The run as reports show it."""
        made = of_history(self.history, self.verdict, f"runs/{self.case.text[:40]}/history.jsonl")
        lines = evidence(self.history, (*self.verdict.findings, *self.verdict.known))
        text = self.case.text
        return msgspec.structs.replace(
            made, file=text[:99], title=text[:99], repeat=f"harness run {text[:99]!r}",
            evidence=lines, seen=(text,),
        )  # fmt: skip

    @property
    def runs(self) -> list[Result]:
        """Two runs of a command: this one, and one beside it."""
        return [reported(self.summary), BESIDE]


BESIDE = Result(name="beside", scenario="beside", title="", target="mine", world="simulate",
                    seed=0, verdict=Verdict("pass"))  # fmt: skip


class Wrong(Exception):
    """An output that is not valid, or that holds what none may hold."""


def check(condition: object, what: str) -> None:
    """Raise Wrong, with the words, unless the condition holds."""
    if not condition:
        raise Wrong(what)


def text_in(data: bytes, *, raw: bool = False) -> str:
    """The text of an output: UTF-8 without a secret, and without control characters."""
    text = data.decode()
    check(SECRET[13:40] not in text, "a secret")
    check(raw or not _RAW.search(text), "a control character")
    return text


def lines_of(data: bytes, count: int) -> list[Any]:
    """The rows of JSON Lines, of which none may be lost."""
    rows = [json.loads(line) for line in text_in(data, raw=True).splitlines()]
    check(len(rows) == count, f"{len(rows)} rows of {count}")
    return rows


def history(said: Said, folder: Path) -> None:
    """`history.jsonl`, which can be read again."""
    path = run_folder.write_history(folder, said.history)
    data = path.read_bytes()
    check(data.count(b"\n") == len(said.history.events), "rows are lost")
    text_in(data, raw=True)
    try:
        check(len(decode(data).events) == len(said.history.events), "events are lost")
    except (msgspec.DecodeError, RecursionError) as error:
        check("deep" in said.case.kind or "recursion" in str(error), f"unreadable: {error}")


def verdict(said: Said, folder: Path) -> None:
    """`verdict.json`."""
    data = run_folder.write_verdict(folder, said.verdict).read_bytes()
    text_in(data, raw=True)
    kept = msgspec.json.decode(data, type=Verdict)
    check(len(kept.findings) == len(said.verdict.findings), "findings are lost")


def run_rows(said: Said, folder: Path) -> None:
    """`run --json`, on an ASCII terminal."""
    lines_of(_printed("ascii", map(json_lines.run_line, said.runs)), 2)


def screens(said: Said, folder: Path) -> None:
    """What `run`, `run -v` and `-q` print, on a terminal in Latin-1, and in report.txt."""
    details: tuple[Detail, ...] = ("verbose", "quiet", "usual")

    def show() -> None:
        for line in told(Text(details[said.number % 4]), said.runs):
            terminal.out(line)

    if said.number % 4 == 3:
        write("", folder / "report.txt", folder, told(Text(head=EACH_RUN), said.runs))
        text_in((folder / "report.txt").read_bytes())
    else:
        text_in(_output("latin-1", show))


def junit_file(said: Said, folder: Path) -> None:
    """`--junit`."""
    data = junit(said.runs)
    text_in(data)
    check(len(list(ElementTree.fromstring(data).iter("testcase"))) == 2, "cases are lost")


_MARKUP = re.compile(r"</?(?:details|summary|br)>(?:.*</summary>)?\s*")


def markdown_files(said: Said, folder: Path) -> None:
    """`--markdown`, within the size of a comment, and without markup from outside."""
    runs = [run.result for run in _diff(said).runs] if said.number % 3 == 0 else said.runs
    text = markdown(runs)
    data = encoded(text)
    check(len(data) <= COMMENT_MAX, "too long")
    _check_markup(text_in(data))


def _check_markup(text: str) -> None:
    for token in MarkdownIt("js-default", {"html": True}).parse(text):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline"):
                check(_MARKUP.fullmatch(part.content), f"markup: {part.content[:60]}")
            check(part.type not in ("link_open", "image"), f"a link: {token.content[:60]}")


def annotation_rows(said: Said, folder: Path) -> None:
    """`--github`: each line is a command of ours."""
    for line in github(said.runs, CommandStarted(verb="run", folder=folder, repository=folder)):
        check("\n" not in line, "two lines")
        check(re.match(r"::(error|warning|notice) [^:]*::", line), line[:80])
        text_in(line.encode())


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.odd: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] += 1
        self.odd += [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]


def _tags(data: bytes) -> _Tags:
    reader = _Tags()
    reader.feed(text_in(data))
    return reader


@cache
def _clean_tags() -> _Tags:
    return _tags(b"".join(page("clean", [page_part(BESIDE)])))


def pages(said: Said, folder: Path) -> None:
    """`--html`: no tag from outside."""
    made = page(said.case.text, (page_part(said.summary, said.history),))
    found, clean = _tags(b"".join(made)), _clean_tags()
    for tag in ("script", "style", "img", "iframe", "b", "svg", "meta", "link"):
        most = clean.found[tag] + (tag == "script")  # a run has one element of data
        check(found.found[tag] <= most, f"{found.found[tag]} {tag} of {most}")
    check(found.odd == clean.odd[: len(found.odd)], f"attributes {found.odd}")


def timelines(said: Said, folder: Path) -> None:
    """What `show` prints."""
    shown = timeline(said.history, said.verdict, WIDTH)
    text_in(_printed("ascii", [shown]))


def _diff(said: Said) -> Diff:
    one = Played(said.history, said.verdict, said.case.text)
    other = Played(_other(), Verdict("pass"), "other")
    name = said.summary.name
    runs, left = [run_diff("x", other, other)], []
    try:
        runs.append(run_diff(name, one, other))
    except RecursionError:  # the command tells it as `_run` of `cli.diff` does
        left.append(NotCompared(name, "unusable", said.case.text))
    return Diff(said.case.text, "b", tuple(runs), tuple(left))


@cache
def _other() -> History:
    from tests.report import fabricated

    return fabricated.history()


def diffs(said: Said, folder: Path) -> None:
    """What `diff` and `diff --json` print."""
    made = _diff(said)
    if said.number % 2:
        lines_of(_printed("ascii", diff_lines(made)), len(made.runs) + 1)
    else:
        text_in(_printed("latin-1", (*details(made, WIDTH), *screen(made, WIDTH))))


def baselines(said: Said, folder: Path) -> None:
    """A baseline, which can be read again."""
    compared = baseline.Comparison(baseline.BaselineFile({}), update=True)
    for one in said.runs:
        compared.take(one)
    path = folder / "baseline.tsv"
    path.write_bytes(encoded(baseline.text(compared.rows())))
    text_in(path.read_bytes(), raw=True)
    check(set(baseline.read(path).rows) == set(compared.rows()), "rows are lost")


def _judged(said: Said) -> FileRead:
    lines = evidence(said.history, said.verdict.findings)
    one = of_transcript("a", said.case.text, "atif", said.verdict, evidence=lines,
                        counts={said.case.text: 1}, asked=("x",), asked_of=2)  # fmt: skip
    refusals, notes = (Refusal("", said.case.text),), (said.case.text,)
    return reported(FileRead(path="a", format="atif", results=(one,), named=True,
                             refusals=refusals, notes=notes))  # fmt: skip


def judge_reports(said: Said, folder: Path) -> None:
    """What `judge` prints, as text and as JSON, and its journal."""
    made = _judged(said)
    events = (CommandStarted(verb="judge"), *made.results, made, made, CommandFinished())
    for report, code, check_lines in (
        (JsonLines(), "ascii", lambda data: lines_of(data, 2)),
        (JudgedFiles(WIDTH, verbose=True), "latin-1", text_in),
    ):
        check_lines(_printed(code, (line for event in events for line in report(event))))
    with JudgeJournal(folder) as journal:
        place = journal.path.stat().st_size
        journal.add(Stamp("a", 1, 2, said.case.text), made)
    kept = recall(str(folder / "judged.jsonl"), place)
    check(kept is not None and len(kept.results) == 1, "the row is lost")


def fuzz_files(said: Said, folder: Path) -> None:
    """The journal of a campaign, the runs that it found, and the files of its findings."""
    text = said.case.text
    finding = Finding("run.crashed", text, cause=Cause(tool=text), session=text)
    small = ShrunkFinding(finding=finding, example=1, name="small-1", text="name: x\n",
                          failure=text)  # fmt: skip
    place = folder / "fuzz"
    journal = Journal(place)
    journal.write(CampaignPlan(target=text, seed=1, profile_name=text))
    journal.write(small)
    journal.close()
    check(len(campaign_journal.read(place).lines) == 1, "a line is lost")
    text_in((place / "campaign.jsonl").read_bytes(), raw=True)
    scenario = findings.write(place, small, text[:200], "p", "sqlite:x")
    test = scenario.with_name("test_small_1.py").read_bytes()
    text_in(test, raw=True)
    if SECRET[13:40] not in text:
        compile(test, "test", "exec")


def scenario_files(said: Said, folder: Path) -> None:
    """The text of a scenario, which reads as the same values."""
    text = said.case.text
    document = {
        "name": "x",
        "title": text,
        "inbox": [{"text": text}],
        "script": [{"say": text}] * 2,
    }
    made = scenario_text(document, [text, f"a {text}"])
    text_in(made.encode(), raw=True)
    root, _ = parse(made)
    if said.case.kind not in ("surrogates", "secret", "large"):
        check(root == document, "another text")


def profiles(said: Said, folder: Path) -> None:
    """`doctor --write`: a profile, which can be read again."""
    text = said.case.text
    seen = [Observation(part="connections", item=text, state="not seen", what=text, see=text)]
    made = profile_text(Profile(tool_prefix=text), seen, text, ("profiles", text or "x"))
    text_in(encoded(made))
    row = next(iter(tomllib.loads(encoded(made).decode())["profiles"].values()))
    profile_of({k: v for k, v in row.items() if k != "target"})


def _printed(encoding: str, lines: Iterable[str]) -> bytes:
    def show() -> None:
        for line in lines:
            terminal.out(line)
            terminal.note(line)

    return _output(encoding, show)


def _output(encoding: str, show: Callable[[], None]) -> bytes:
    """What a function prints on standard output, in UTF-8; the terminal has another encoding."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=ESCAPES) for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        show()
    for stream in streams:
        stream.flush()
    return streams[0].buffer.getvalue().decode(encoding).encode()


WRITERS: dict[str, Callable[[Said, Path], None]] = {
    "history": history, "verdict": verdict, "run_rows": run_rows, "screens": screens,
    "junit": junit_file, "markdown": markdown_files, "annotations": annotation_rows, "pages": pages,
    "timelines": timelines, "diffs": diffs, "baselines": baselines, "judge": judge_reports,
    "fuzz_files": fuzz_files, "scenarios": scenario_files, "profiles": profiles,
}  # fmt: skip
"""Every writer: raises for an output that is wrong, and for a text that it cannot write."""
