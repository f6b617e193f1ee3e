"""Pages, docstrings, comments, messages, stories and tables in plain English."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plain_english import complaints
from tests.plain_sources import prose

pytestmark = pytest.mark.source

ROOT = Path(__file__).parents[1]
NAMES = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")
PAGES = sorted(ROOT / f"{name}.md" for name in NAMES)
PAGES += sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts)
KINDS = {".py", ".yaml", ".toml", ".tsv"}
FOLDERS = sorted(
    {
        path
        for top in ("harness", "tests", "scenarios", "examples", "bench", "docs")
        for path in [ROOT / top, *(ROOT / top).iterdir()]
        if path.is_dir() and path.name != "__pycache__"
    }
)
# Templates are not YAML; these tables hold what other people wrote.
COPIED = {
    "harness/starter/templates",
    "harness/catalogue/incidents.tsv",
    "harness/recordings/importing/agent_texts.tsv",
    "tests/examples",
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_is_plain(path: Path) -> None:
    assert [*complaints(path.read_text())] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_sources_of_a_folder_are_plain(folder: Path) -> None:
    below = folder.glob("*") if folder.parent == ROOT else folder.rglob("*")
    found = {
        f"{path.relative_to(ROOT)}: {complaint}"
        for path in below
        if path.suffix in KINDS and not _is_copied(path)
        for paragraph in prose(path)
        for complaint in complaints(paragraph)
    }
    assert sorted(found) == []


def _is_copied(path: Path) -> bool:
    name = str(path.relative_to(ROOT))
    return any(name.startswith(copied) for copied in COPIED)


LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
LONG += "sixteen seventeen eighteen nineteen twenty a b c d e f."


@pytest.mark.parametrize(
    ("page", "count"),
    [
        (LONG, 1),
        (f"- {LONG}\n- {LONG}", 2),
        ("Whoever reads this, for ever.", 2),
        (f"<!-- meant: a quotation -->\n{LONG}\n\n{LONG}", 1),
        (f"```\n{LONG}\n```\n| {LONG} |\n# {LONG}", 0),
        (f"`{LONG}` is [{'a name'}](https://x.y/{'z' * 90}).", 0),
        ("Short: " + LONG[:80] + "; and on.", 0),
    ],
)
def test_what_is_complained_of(page: str, count: int) -> None:
    assert len([*complaints(page)]) == count


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.py", f'"""{LONG}"""', 1),
        ("a.py", f'def name():\n    """{LONG}"""', 1),
        ("a.py", f"x = 1  # whoever\n# {LONG[:60]}\n# {LONG[60:]}", 2),
        ("harness/a.py", f'raise E(f"{LONG} {{name}}")', 1),
        ("a.py", f'raise E("{LONG}")', 0),
        ("harness/a.py", f'x = r"\\b {LONG}"', 0),
        (
            "a.yaml",
            f"story: {LONG}\nscript: [{{say: {LONG}}}]\nvariants: {{a: {{title: {LONG}}}}}",
            2,
        ),
        ("a.toml", f'title = "{LONG}"\nrepeat = "{LONG}"', 1),
        ("a.tsv", f"a\tb\n{LONG}\t{LONG[:-1]}", 1),
    ],
)
def test_where_prose_is_found(tmp_path: Path, name: str, text: str, count: int) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert len([c for paragraph in prose(path) for c in complaints(paragraph)]) == count
