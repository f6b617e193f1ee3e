"""`harness explain field/...`: what was confirmed in public agents, by name, by agent, by code."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from harness.catalogue.field_findings import field_finding
from harness.cli import explanations
from harness.cli.explain import explanation
from harness.core.values.errors import InputError
from tests.catalogue.test_field_findings import COMPLETE

LINE = "field/an-agent-pays-twice  (1.0, defect): A call is paid twice"


@pytest.fixture(autouse=True)
def _one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    row = field_finding(COMPLETE, "an-agent-pays-twice")
    found = MappingProxyType({"an-agent-pays-twice": row})
    monkeypatch.setattr(explanations, "field_findings", lambda: found)


def test_a_finding_says_all_that_its_file_says() -> None:
    text = explanation("field/an-agent-pays-twice")
    for word in ("defect of an-agent 1.0, Python", "Expected: One payment.", "https://example.org/1",
                 "python docs/field/checks/an-agent-pays-twice.py",
                 "Why it is wrong: what a good agent does; no document says so"):  # fmt: skip
        assert word in text


@pytest.mark.parametrize("name", ["field/", "field/an-agent"])
def test_an_agent_lists_its_findings(name: str) -> None:
    assert explanation(name).strip() == LINE


@pytest.mark.parametrize("code", ["V4", "valid_request.V4", "anthropic.V4", "effect_once.again"])
def test_a_code_says_where_it_was_confirmed(code: str) -> None:
    assert explanation(code).endswith(f"Confirmed in agents that people run:\n  {LINE}")


@pytest.mark.parametrize("code", ["V5", "args_complete.truncated", "http.status"])
def test_other_codes_say_nothing_of_it(code: str) -> None:
    assert "Confirmed in agents" not in explanation(code)


def test_a_mistyped_finding_is_told_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'field/an-agent"):
        explanation("field/an-agent-pays-twic")
