"""Profiles from files: YAML and TOML say the same, and each mistake has its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.core.values.profile import CAPABILITIES, Capabilities, Profile, profile_of
from harness.files.profile_file import load_profile

YAML = """\
target: my_agent:agent
wires: [openai-chat]
stream: never
capabilities: {session: false, cancel: true}
turn_ending_tools: [final_answer]
results: text
tool_prefix: mcp__harness__
tool_names: {memory: remember}
purposes: {"^Summarise": compact}
checks: {no_progress_stop: {repeats: 5}}
limits: {real_s: 120}
store: sqlite:state.db
fail-on: defect
keep: true
"""

TOML = """\
target = "my_agent:agent"
wires = ["openai-chat"]
stream = "never"
turn_ending_tools = ["final_answer"]
results = "text"
tool_prefix = "mcp__harness__"
store = "sqlite:state.db"
fail-on = "defect"
keep = true
capabilities = {session = false, cancel = true}

[tool_names]
memory = "remember"

[purposes]
"^Summarise" = "compact"

[checks.no_progress_stop]
repeats = 5

[limits]
real_s = 120
"""


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    profile = load_profile(file(tmp_path, "mine.yaml", YAML))
    assert profile == load_profile(file(tmp_path, "mine.toml", TOML))
    assert profile.fail_on == "defect"
    assert profile.limits.real_s == 120
    assert profile.agent_name("memory") == "remember"
    assert profile.agent_name("search") == "mcp__harness__search"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.yaml", "keep: true\nstreams: never\n",
         ":2: key `streams`: unknown; did you mean 'stream'"),
        ("p.toml", "keep = true\nstreams = 'never'\n",
         ":2: key `streams`: unknown; did you mean 'stream'"),
        ("p.yaml", "capabilities:\n  store: true\n  sesion: true\n",
         ":3: key `sesion`: unknown; did you mean 'session'?"),
        ("p.toml", "[capabilities]\nstore = true\nsesion = true\n",
         ":3: key `sesion`: unknown; did you mean 'session'?"),
        ("p.toml", "keep = true\nlimits = {real_s = -1}\n", ":2: key `real_s`: expected `float`"),
        ("p.yaml", "fail_on: defect\n", ":1: key `fail_on`: unknown; did you mean 'fail-on'?"),
        ("p.yaml", "fail-on: defects\n", ":1: key `fail-on`: 'defects' is not one of defect, "),
        ("p.yaml", "wires: [openai]\n", ":1: key `wires`: there is no wire 'openai'; "),
        ("p.toml", "[purposes]\n'(' = 'compact'\n", ":2: key `purposes`: '(' is not a regular"),
        ("p.toml", "keep = \n", ":1: not TOML"),
        ("p.yaml", "[1]\n", ":1: expected `object`, got `array`"),
    ],
)  # fmt: skip
def test_a_mistake_has_its_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    path = file(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        load_profile(path)
    assert f"{path}{said}" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone.toml: cannot be read"):
        load_profile(tmp_path / "gone.toml")


def test_what_is_declared() -> None:
    said = Profile(stream="never", store="sqlite:x.db", capabilities=Capabilities(cancel=False))
    assert {
        name: said.declares(name) for name in CAPABILITIES if said.declares(name) is not None
    } == {
        "streaming": False,
        "own_store": True,
        "cancel": False,
    }
    assert Profile(stream="always").declares("streaming")
    other = Profile(stream="always", capabilities=Capabilities(streaming=False))
    assert other.declares("streaming") is False


def test_a_history_keeps_what_differs_from_the_default() -> None:
    assert profile_of(None) == profile_of({}) == Profile()
    assert profile_of({"fail-on": "advice"}).fail_on == "advice"
