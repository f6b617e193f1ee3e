"""The records: what stands in one is what the provider itself does."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness import providers
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.providers.shared.record import ProviderRecord
from harness.providers.shared.rules import Rule

of_each = pytest.mark.parametrize("record", providers.records(), ids=lambda record: record.name)


def test_the_names_are_those_of_the_records_and_the_default_is_one_of_them() -> None:
    assert providers.names() == tuple(record.name for record in providers.records())
    assert Scenario(name="s").wire == providers.DEFAULT
    assert providers.DEFAULT in providers.names()


@of_each
def test_a_provider_answers_at_the_path_of_its_record(record: ProviderRecord) -> None:
    provider = providers.by_name(record.name)
    assert provider.record is record
    assert record.path in provider.paths()
    assert all(map(record.is_spoken_at, provider.paths()))
    assert any(re.search(pattern, record.path) for pattern in provider.recorded.paths)
    assert record.url == f"https://{record.host}"


@of_each
def test_every_dialect_has_a_reader(record: ProviderRecord) -> None:
    dialects = record.dialects
    assert dialects.default in dialects.names
    assert {*dialects.generated, *dialects.untold} <= {"", *dialects.names}
    for name in ("", *dialects.names):
        providers.by_name(record.name).reader(name, None)


@of_each
def test_the_rules_are_those_of_the_dialects(record: ProviderRecord) -> None:
    module = importlib.import_module(f"harness.providers.{record.name.replace('-', '_')}.record")
    rules: dict[str, Rule] = module.TABLE.rules
    assert rules.keys() == providers.by_name(record.name).refusals().keys()
    for rule in rules.values():
        assert rule.dialects <= set(record.dialects.names)
        assert rule.source
        assert rule.text
        assert 400 <= rule.status < 600
        assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", rule.since)


@pytest.mark.parametrize(
    ("provider", "host", "dialect"),
    [
        ("anthropic", "api.anthropic.com", ""),
        ("anthropic", "us-east5-aiplatform.googleapis.com", ""),
        ("anthropic", "bedrock-runtime.us-east-1.amazonaws.com", "bedrock"),
        ("anthropic", "localhost", "lenient"),
        ("openai-chat", "mine.openai.azure.com", "azure"),
        ("openai-responses", "mine.openai.azure.com", ""),
        ("openai-chat", "openrouter.ai", "lenient"),
    ],
)
def test_a_host_says_its_dialect(provider: str, host: str, dialect: str) -> None:
    record = providers.record(provider)
    assert record.dialect_at(host) == dialect
    assert "lenient" in record.dialects.names


@of_each
def test_a_stop_reason_comes_back_as_it_was_written(record: ProviderRecord) -> None:
    for ours in ("end_turn", "tool_use", "max_tokens", "refusal", "a_new_one"):
        assert record.read_stop(record.written_stop(ours)) == ours


def test_an_unknown_name_has_no_record() -> None:
    with pytest.raises(InputError, match="no wire is named 'morse'"):
        providers.record("morse")


CORE = Path(harness.__file__).parent / "core"


def texts_of_core() -> Iterator[tuple[str, str]]:
    """Each text in the core's code, documentation included, in small letters, with its file."""
    for path in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                value = node.value
                text = value if isinstance(value, str) else value.decode("utf-8", "replace")
                yield path.name, text.lower()


def words_of(record: ProviderRecord) -> Iterator[str]:
    """The headers and the texts by which a provider, its SDK and its hosts are known."""
    headers = record.headers
    named = {headers.helper, headers.retry_count, headers.request_id, headers.requests_left}
    named |= {headers.wait_ms, headers.rate_limits, *headers.kept, *headers.identifying}
    named |= {*headers.passing, *headers.passing_starts, *headers.signed_starts}
    named |= {name for name, _ in headers.final}
    yield from (name for name in named if "-" in name and name not in OF_HTTP)
    yield from (*record.size_messages, *record.size_codes, record.host)


OF_HTTP = frozenset({"keep-alive", "transfer-encoding", "content-encoding"})
"""Words of HTTP itself, which the core may say."""


@of_each
def test_the_core_knows_none_of_a_providers_headers_and_texts(record: ProviderRecord) -> None:
    words = [word.lower() for word in words_of(record)]
    assert {"cf-ray", "x-stainless-", "prompt is too long"} <= {*words}
    found = [(file, word) for file, text in texts_of_core() for word in words if word in text]
    assert not found


@of_each
def test_the_core_knows_none_of_the_texts_of_the_rules(record: ProviderRecord) -> None:
    literal = (re.split(r"[{}]", rule.text) for rule in providers.rules(record.name).values())
    parts = {max(part, key=len).strip().lower() for part in literal}
    texts = "\n".join(text for _, text in texts_of_core())
    assert not {part for part in parts if len(part) > 20 and part in texts}
