"""Nothing is left out: every check, fault, key, flag, field and member stands in the documents."""

from __future__ import annotations

import importlib
import re
from typing import get_args

import msgspec
import pytest

from harness.agent import agent as reference
from harness.cli.verbs import VERBS
from harness.configuration import Configuration
from harness.core.history.events import AnyEvent, StoredRow
from harness.core.history.history import decode, encode
from harness.core.scenario import scenario as expectation
from harness.core.scenario import scenario as scenario_file
from harness.core.scenario.scenario import OF_THE_COMMAND, InboxItem, Scenario, Turn
from harness.core.values.brief import Brief
from harness.core.values.calls import InboxRequest, ModelRequest, OutboxRequest, ToolRequest
from harness.core.values.profile import CAPABILITIES, Profile
from harness.core.values.strict import Strict
from harness.core.values.verdict import Verdict
from harness.report.media.json_lines import run_line
from harness.runner import run
from harness.transports.in_process import InProcessBrief
from harness.verdicts.result import summarize
from tests import generated_llms
from tests.documents import GENERATED, MARK, ROOT, blocks, part
from tests.generated_examples import example_files
from tests.generated_keys import PAGES as KEY_PAGES
from tests.generated_keys import with_key_tables

pytestmark = pytest.mark.source

DOCS = ROOT / "docs"

SECTIONS = {
    "Scenario": "## Top-level keys",
    "Order": "## orders",
    "Turn": "## script",
    "CassetteScript": "## A cassette as script",
    "ToolScript": "## tools",
    "ToolTurn": "## tools",
    "ApprovalTurn": "## tools",
    "InboxItem": "## inbox",
    "AtMs": "## inbox",
    "After": "## inbox",
    "FaultSpec": "## faults",
    "RequestText": "## script",
    "When": "## faults",
    "Limits": "## limits",
    "Expect": "## expect",
    "ExpectCalls": "## expect",
    "MustNot": "## expect",
    "ExpectReply": "## expect",
    "Bounds": "## expect",
    "Waits": "## expect",
    "Session": "## session",
    "SeedMessage": "## session",
}
"""Where docs/scenario.md explains the keys of each struct."""

OURS = {*OF_THE_COMMAND, "settings"}
"""Fields that no file names."""


@pytest.mark.parametrize("verb", VERBS)
def test_every_flag_is_explained(verb: str) -> None:
    section = part(DOCS / "commands.md", f"## {verb}")
    common = {"--json", "--debug", "--plugin", "--no-config"}
    assert all(f"`{flag}" in _text("commands.md").partition("## run")[0] for flag in common)
    command = importlib.import_module(f"harness.cli.{verb}").command
    flags = {flag for p in command.params if p.param_type_name == "option" for flag in p.opts}
    assert {flag for flag in flags - common if flag not in section} == set()


@pytest.mark.parametrize("name", GENERATED)
def test_what_is_generated_is_what_the_code_says(name: str) -> None:
    text = (DOCS / name).read_text("utf-8").partition(MARK)[2].lstrip("\n")
    assert text == GENERATED[name](), "write it again: python -m tests.documents"


def test_the_index_for_models_is_that_of_the_pages() -> None:
    text = (DOCS / generated_llms.NAME).read_text("utf-8")
    assert text == generated_llms.generated_llms(), "write it again: python -m tests.documents"
    pages = generated_llms.linked(text)
    assert len(pages) > 40
    assert [page for page in pages if not (DOCS / page).exists()] == []


def test_the_examples_of_rules_are_the_cases_of_the_tests() -> None:
    for path, text in example_files():
        assert path.read_text("utf-8") == text, "write them again: python -m tests.documents"


@pytest.mark.parametrize("name", KEY_PAGES)
def test_the_tables_of_keys_are_those_of_the_schema(name: str) -> None:
    text = (DOCS / name).read_text("utf-8")
    assert "<!-- keys " in text
    assert with_key_tables(text) == text, "write them again: python -m tests.documents"


def test_every_key_of_a_scenario_is_explained() -> None:
    parts = (*vars(scenario_file).values(), *vars(expectation).values())
    structs = {s.__name__: s for s in parts if _is_struct(s)}
    assert structs.keys() == SECTIONS.keys() | {"Strict", "Profile"}
    for name, heading in SECTIONS.items():
        spans = " ".join(re.findall(r"`([^`\n]+)`", part(DOCS / "scenario.md", heading)))
        keys = {field.encode_name for field in msgspec.structs.fields(structs[name])}
        missing = {k for k in keys - OURS if not re.search(rf"\b{k}\b", spans)}
        assert missing == set(), f"docs/scenario.md, {heading}"


def test_every_key_of_a_profile_and_of_the_configuration_is_explained() -> None:
    for struct, page in ((Profile, "profiles.md"), (Configuration, "configuration.md")):
        fields = msgspec.structs.fields(struct)
        keys = {field.encode_name for field in fields}
        assert {key for key in keys if f"\n| `{key}` | " not in _text(page)} == set()
    assert {
        name for name in CAPABILITIES if f"\n| `{name}` | " not in _text("profiles.md")
    } == set()


def test_every_limit_has_its_default() -> None:
    for field in msgspec.structs.fields(scenario_file.Limits):
        assert f"\n| `{field.name}` | " in _text("scenario.md")
        assert re.search(rf"^\| `{field.name}` \|.*`{field.default}`", _text("scenario.md"), re.M)


def test_every_member_of_the_brief_is_explained() -> None:
    members = {*InProcessBrief.__dict__, *Brief.__annotations__}
    public = {name for name in members if not name.startswith("_")}
    assert {"anthropic", "store", "cancelled", "seed"} <= public
    assert {m for m in public if not re.search(rf"`{m}[`(]", _text("targets.md"))} == set()


def test_every_field_of_an_event_is_explained() -> None:
    for event in get_args(AnyEvent):
        tag = str(event.__struct_config__.tag)
        section = part(DOCS / "history.md", "### message" if tag == "value" else f"### {tag}")
        known = section + part(DOCS / "history.md", "## Events")
        assert {f for f in event.__struct_fields__ if f"`{f}`" not in known} == set(), tag
        assert f'"event":"{tag}"' in section, f"{tag}: one line as an example"


@pytest.mark.parametrize(
    ("struct", "heading"),
    [
        (request, "### called")
        for request in (ModelRequest, ToolRequest, InboxRequest, OutboxRequest)
    ]
    + [(StoredRow, "### stored")],
)
def test_every_field_of_a_part_is_explained(struct: type[msgspec.Struct], heading: str) -> None:
    section = part(DOCS / "history.md", heading)
    fields = struct.__struct_fields__
    assert {f for f in fields if f"`{f}`" not in section} == set()


def test_the_events_shown_are_events() -> None:
    lines = "".join(blocks(DOCS / "history.md", "jsonl")).splitlines()
    assert len(lines) >= len(get_args(AnyEvent))
    for line in lines:
        (event,) = decode(line.encode()).events
        shown = msgspec.json.decode(line)
        assert shown == {**shown, **msgspec.json.decode(encode([event]))}, "a field of no event"
        assert shown.keys() <= {"event", *event.__struct_fields__}


def test_the_verdict_shown_is_a_verdict() -> None:
    (block,) = blocks(DOCS / "history.md", "json")
    verdict = msgspec.json.decode(block, type=Verdict)
    assert msgspec.json.decode(msgspec.json.encode(verdict)) == msgspec.json.decode(block)
    assert {f for f in Verdict.__struct_fields__ if f"`{f}`" not in _text("history.md")} == set()


def test_the_json_lines_shown_have_the_keys_that_are_written() -> None:
    (block,) = blocks(DOCS / "commands.md", "json")
    hello = Scenario(name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello."),))
    done = summarize(run(hello, reference), None)
    assert msgspec.json.decode(block).keys() == msgspec.json.decode(str(run_line(done))).keys()


def _text(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def _is_struct(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Strict)
