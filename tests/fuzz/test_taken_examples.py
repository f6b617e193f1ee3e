"""What a place gives: the findings of its campaigns, each once, in folders and archives alike.

The places of campaigns: a folder, an archive and a URL say the same; no name leads out.
"""

from __future__ import annotations

import http.server
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks import names
from harness.core.values.errors import InputError
from harness.core.values.verdict import Cause, Finding
from harness.engines import Serial
from harness.files.regular_file import write_atomically
from harness.fuzz import taken_examples
from harness.fuzz.batch import BatchResult
from harness.fuzz.campaign import begin, resume, run
from harness.fuzz.campaign_journal import FILE, CampaignPlan, Journal, Line
from harness.fuzz.example import RawFinding, scenario_file
from harness.fuzz.findings import FOLDER, ShrunkFinding
from harness.fuzz.replay import Replayed, TakenExample
from harness.fuzz.taken_examples import examples_of, opened_place
from tests.fuzz.test_replay import FOUND, RIGHT, TEXT, TWICE

OTHER = Finding("effect_once.again", "runs twice", cause=Cause(tool="ping"))
SHRUNK = ShrunkFinding(finding=FOUND, example=3, name="twice-1", text=TEXT, turns=1)
PLAN = CampaignPlan(target="no.such.module:agent", seed=1)


def journal(folder: Path, *lines: Line) -> Path:
    folder.mkdir(parents=True)
    written = Journal(folder)
    for line in (PLAN, *lines):
        written.write(line)
    written.close()
    return folder


def batch_with(*found: Finding) -> BatchResult:
    raw = tuple(RawFinding(one, n, (1, 2)) for n, one in enumerate(found, start=3))
    return BatchResult(number=0, examples=16, found=raw, last=16)


def test_a_place_gives_what_was_shrunk_then_what_was_not(tmp_path: Path) -> None:
    folder = journal(tmp_path / "ci" / "7", batch_with(FOUND, OTHER), SHRUNK)
    write_atomically(scenario_file(folder, 4), TEXT.encode())
    wanted = (
        TakenExample("twice-1", TEXT, FOUND, is_shrunk=True),
        TakenExample("example-4", TEXT, OTHER),
    )
    assert examples_of(str(tmp_path / "ci")) == examples_of(str(folder)) == wanted
    files = {p.relative_to(tmp_path).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    archive = tmp_path / "ci.zip"
    archive.write_bytes(packed({name: path.read_bytes() for name, path in files.items()}))
    assert examples_of(str(archive)) == wanted


def test_a_finding_of_two_campaigns_is_taken_up_once(tmp_path: Path) -> None:
    journal(tmp_path / "a", batch_with(FOUND), SHRUNK)
    journal(tmp_path / "b", Replayed(number=0, name="x", state="fails", shown=SHRUNK))
    assert [taken.name for taken in examples_of(str(tmp_path))] == ["twice-1"]


def test_what_did_not_repeat_and_what_has_no_file_is_left(tmp_path: Path) -> None:
    failed = ShrunkFinding(finding=FOUND, example=3, failure="it does not repeat")
    journal(tmp_path / "a", batch_with(FOUND, OTHER), failed)
    assert examples_of(str(tmp_path)) == ()


@pytest.mark.parametrize("torn", [b"\x80\x04\x95cposix\nsystem\n", b'{"type":"other"}\n', b"\n"])
def test_a_journal_that_cannot_be_read_is_an_error_of_the_user(torn: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(torn)
    with pytest.raises(InputError, match=FILE):
        examples_of(str(tmp_path))


def test_a_database_of_hypothesis_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "ab12").write_bytes(b"\x01\x02")
    with pytest.raises(InputError, match="database of Hypothesis"):
        examples_of(str(tmp_path))


@pytest.mark.parametrize(("target", "state"), [(TWICE, "fails"), (RIGHT, "fixed")])
def test_a_campaign_plays_them_first_and_a_resume_goes_on(
    target: str, state: str, tmp_path: Path
) -> None:
    place = journal(tmp_path / "ci", SHRUNK)
    plan = CampaignPlan(target=target, seed=1)
    folder = tmp_path / "desk"
    campaign, written = begin(folder, plan, names(), examples_of(str(place)))
    written.close()
    campaign, written = resume(folder, names())
    (result,) = run(campaign, Serial(), written, folder, examples=0)
    written.close()
    assert isinstance(result, Replayed)
    assert result.state == state
    assert campaign.taken.counts()[result.state] == 1
    assert campaign.has_played
    assert campaign.new_of(result) is result.shown
    assert len([*folder.glob(f"{FOLDER}/*.yaml")]) == len(campaign.findings.kept)
    again, written = resume(folder, names())
    assert again.task(0) is None
    written.close()
    assert again.taken.counts() == campaign.taken.counts()


FILES = {"campaign.jsonl": b"{}\n", "found/example-3/example-3.yaml": b"name: x\n"}


def packed(files: dict[str, bytes]) -> bytes:
    document = io.BytesIO()
    with zipfile.ZipFile(document, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return document.getvalue()


def content(place: str) -> dict[str, bytes]:
    found = opened_place(place)
    return {name: found.read(name) for name in found.names()}


@contextmanager
def served(status: int, body: bytes, **headers: str) -> Iterator[tuple[str, list[str]]]:
    """A server on loopback with one answer; the list has the paths that it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def test_a_folder_an_archive_and_a_url_hold_the_same_files(tmp_path: Path) -> None:
    for name, data in FILES.items():
        file = tmp_path / "night" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    archive = tmp_path / "night.zip"
    archive.write_bytes(packed({**FILES, "found/": b""}))
    assert content(str(tmp_path / "night")) == content(str(archive)) == FILES
    with served(200, archive.read_bytes()) as (url, asked):
        assert content(f"{url}/night.zip?sig=a%2Fb") == FILES
    assert asked == ["/night.zip?sig=a%2Fb"]


def test_a_link_out_of_a_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_bytes(b"mine")
    (tmp_path / "night").mkdir()
    (tmp_path / "night" / "campaign.jsonl").symlink_to(tmp_path / "secret.jsonl")
    assert opened_place(str(tmp_path / "night")).names() == []


@given(st.sampled_from(["../a", "a/../../b", "/etc/passwd", "a\\..\\b", ".."]), st.booleans())
def test_a_name_that_leads_out_of_an_archive_is_refused(name: str, first: bool) -> None:
    files = {name: b"x", **FILES} if first else {**FILES, name: b"x"}
    with pytest.raises(InputError, match="leads out of the archive"):
        taken_examples._archive(packed(files), "night.zip").names()


def test_a_redirect_is_not_followed_and_the_key_of_a_url_is_not_told() -> None:
    with served(200, packed(FILES)) as (other, asked), served(302, b"", location=other) as (url, _):
        with pytest.raises(InputError, match="redirect") as refused:
            opened_place(f"{url}/a?sig=hidden")
        assert "hidden" not in str(refused.value)
        assert asked == []


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [(404, b"", "answers HTTP 404"), (200, b"<html>", "no whole ZIP archive")],
)
def test_another_answer_is_told(status: int, body: bytes, why: str) -> None:
    with served(status, body) as (url, _), pytest.raises(InputError, match=why):
        opened_place(url)


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    noise = os.urandom(2_000)
    monkeypatch.setattr(taken_examples, "MOST_BYTES", 1_000)
    with served(200, noise) as (url, _), pytest.raises(InputError, match="larger than 1000 bytes"):
        opened_place(url)
    (tmp_path / "large.zip").write_bytes(packed({"campaign.jsonl": noise}))
    with pytest.raises(InputError, match="larger than 1000 bytes"):
        opened_place(str(tmp_path / "large.zip"))
    unpacked = taken_examples._archive(packed({"campaign.jsonl": bytes(2_000)}), "x.zip")
    with pytest.raises(InputError, match="larger than 1000 bytes"):
        unpacked.read("campaign.jsonl")


@pytest.mark.parametrize("place", ["http://", "http://me:word@127.0.0.1:1/a", "http://[::1/a"])
def test_a_url_that_cannot_be_asked_is_an_error_of_the_user(place: str) -> None:
    with pytest.raises(InputError):
        opened_place(place)


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    (tmp_path / "pickle.zip").write_bytes(b"\x80\x04\x95cposix\nsystem\n")
    with pytest.raises(InputError, match="neither a folder nor a ZIP archive"):
        opened_place(str(tmp_path / "pickle.zip"))
    with pytest.raises(InputError, match="cannot be read"):
        opened_place(str(tmp_path / "none.zip"))
