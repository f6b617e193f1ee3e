"""A profile as TOML: the file can be read, for any name and any text of an agent."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.profile import Profile
from harness.doctor.probe import Observation
from harness.doctor.profile_text import profile_text
from harness.redaction.encoder import encoded

TEXTS = st.text(st.characters(categories=None))
KEY = "sk-ant-api03-" + "Zq7Lm2Xc9Vb4Np6Rt8Yw3Ks5Hd1Gf0Ja" * 3


def read(profile: Profile, target: str, what: str = "", name: str = "mine") -> dict[str, object]:
    """The values of the profile in the file."""
    seen = [Observation(part="connections", item="store", state="not seen", what=what)]
    file = encoded(profile_text(profile, seen, target, ("profiles", name))).decode()
    [values] = tomllib.loads(file)["profiles"].values()
    assert isinstance(values, dict)
    return values


@given(TEXTS, TEXTS, TEXTS)
def test_the_file_can_be_read(target: str, what: str, name: str) -> None:
    assert "target" in read(Profile(tool_prefix=what), target, what, name)


def test_an_emoji_is_itself_and_half_of_one_its_escape() -> None:
    made = read(Profile(tool_prefix="\ud83d"), "agents_😀:a\x7f\u2028")
    assert (made["target"], made["tool_prefix"]) == ("agents_😀:a\x7f\u2028", "\\ud83d")


def test_a_key_in_the_target_is_not_written() -> None:
    assert read(Profile(), f"process:agent --key {KEY}")["target"] != f"process:agent --key {KEY}"
