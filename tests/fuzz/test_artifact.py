"""The places of campaigns: a folder, an archive and a URL say the same; no name leads out."""

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

from harness.core.values.errors import InputError
from harness.fuzz import artifact
from harness.fuzz.artifact import opened_place

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
        artifact._archive(packed(files), "night.zip").names()


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
    monkeypatch.setattr(artifact, "MOST_BYTES", 1_000)
    with served(200, noise) as (url, _), pytest.raises(InputError, match="larger than 1000 bytes"):
        opened_place(url)
    (tmp_path / "large.zip").write_bytes(packed({"campaign.jsonl": noise}))
    with pytest.raises(InputError, match="larger than 1000 bytes"):
        opened_place(str(tmp_path / "large.zip"))
    unpacked = artifact._archive(packed({"campaign.jsonl": bytes(2_000)}), "x.zip")
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
