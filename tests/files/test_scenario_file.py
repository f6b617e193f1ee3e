"""A scenario file as its runs: short forms, variants, and where files are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import InboxItem, Turn, When
from harness.core.values.errors import InputError
from harness.files import find_scenarios, load_scenarios
from tests.files.scenario_files import MINIMAL, write


def test_short_forms_become_long(tmp_path: Path) -> None:
    text = (
        MINIMAL
        + "checks: [expect, {no_progress_stop: {repeats: 4}}]\n"
        + "faults: [{kind: http.status, status: 500, when: [1, 3]}]\n"
    )
    (scenario,) = load_scenarios(write(tmp_path, text))
    assert scenario.inbox == (InboxItem(text="hello"),)
    assert scenario.checks == {"expect": {}, "no_progress_stop": {"repeats": 4}}
    assert scenario.faults[0].settings == {"status": 500}
    assert scenario.faults[0].when == (1, 3)
    assert scenario.script == (Turn(say="hi"),)
    assert (scenario.folder, scenario.stream, scenario.wire) == (str(tmp_path), False, "anthropic")


def test_a_message_of_the_user_may_be_its_text_alone(tmp_path: Path) -> None:
    script = "script: [{say: hi}]\n"
    said = "inbox:\n  - Hello\n  - {text: Again, session: other}\n  - Bye\n"
    (scenario,) = load_scenarios(write(tmp_path, said + script))
    again = InboxItem(text="Again", session="other")
    assert scenario.inbox == (InboxItem(text="Hello"), again, InboxItem(text="Bye"))
    wrong = "inbox:\n  - Hello\n  - txet: Again\n"
    with pytest.raises(InputError, match=r":3: .*txet"):
        load_scenarios(write(tmp_path, wrong + script))


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("two-words.yaml", "inbox: hello\nscript: [{say: hi}]\n", "two-words"),
        ("Two Words.yaml", "name: mine\ninbox: hello\nscript: [{say: hi}]\n", "mine"),
        ("s.yaml", "name: other\ninbox: hello\nscript: [{say: hi}]\n", "other"),
    ],
)
def test_a_scenario_has_its_name_or_that_of_its_file(
    tmp_path: Path, file: str, text: str, name: str
) -> None:
    plain, changed = load_scenarios(write(tmp_path, f"{text}variants: {{a: {{seed: 3}}}}\n", file))
    assert (plain.run_name, changed.run_name) == (name, f"{name}/a")


def test_a_file_name_that_is_no_name_asks_for_one(tmp_path: Path) -> None:
    path = write(tmp_path, "inbox: hello\nscript: [{say: hi}]\n", "Two Words.yaml")
    with pytest.raises(InputError) as caught:
        load_scenarios(path)
    said = "no key `name`, and the file's name is taken: 'Two Words' is not in kebab case"
    assert said in caught.value.what


def test_when_may_name_a_call(tmp_path: Path) -> None:
    text = MINIMAL + "faults: [{kind: http.status, when: {after: model#2}}]\n"
    (scenario,) = load_scenarios(write(tmp_path, text))
    assert scenario.faults[0].when == When(after="model#2")


def test_one_file_is_all_its_runs(tmp_path: Path) -> None:
    variants = "variants:\n  one: {}\n  two: {stream: true}\n"
    runs = load_scenarios(write(tmp_path, "stream: both\n" + MINIMAL + variants))
    assert [r.run_name for r in runs] == ["s", "s+stream", "s/one", "s/one+stream", "s/two+stream"]


def test_a_variant_is_merged_deep_and_a_list_replaces_a_list(tmp_path: Path) -> None:
    text = """
name: s
limits: &limits {model_calls: 5, restarts: 1}
tools:
  a: {description: A, script: [{ok: 1}, {ok: 2}]}
  b: {description: B}
script: [{say: hi}, {say: there}]
variants:
  v:
    limits: {model_calls: 9}
    tools: {a: {script: [{ok: 3}]}}
    script: [{say: other}]
  w:
    limits: *limits
"""
    base, v, w = load_scenarios(write(tmp_path, text))
    assert (v.limits.model_calls, v.limits.restarts) == (9, 1)
    assert (v.tools["a"].description, [t.ok for t in v.tools["a"].script]) == ("A", [3])
    assert v.tools["b"] == base.tools["b"]
    assert [t.say for t in v.script] == ["other"]  # type: ignore[union-attr]
    assert w.limits == base.limits
    assert [t.ok for t in base.tools["a"].script] == [1, 2], "the baseline stays as it was"


@pytest.mark.parametrize("text", ["\ufeff" + MINIMAL, MINIMAL.replace("\n", "\r\n")])
def test_marks_and_line_ends_of_other_editors(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    assert load_scenarios(path)[0].name == "s"
    assert find_scenarios([tmp_path]) == [path]


def test_a_large_file_is_read(tmp_path: Path) -> None:
    text = MINIMAL + f"story: {'x' * 10_000_000}\n"
    assert len(load_scenarios(write(tmp_path, text))[0].story) == 10_000_000


def test_folders_give_what_has_a_script(tmp_path: Path) -> None:
    one = write(tmp_path, MINIMAL, "b/s.yaml")
    two = write(tmp_path, MINIMAL, "a/s.yaml")
    write(tmp_path, "interactions: []\n  script: x\n", "a/cassette.yaml")
    (tmp_path / "folder.yaml").mkdir()
    assert find_scenarios([tmp_path]) == [two, one]
    assert find_scenarios([one, tmp_path]) == [one, two]
    assert find_scenarios([tmp_path / "a" / "cassette.yaml"]) == [tmp_path / "a" / "cassette.yaml"]


def test_nothing_to_find_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scenario in this folder"):
        find_scenarios([tmp_path])
    with pytest.raises(InputError, match="no such file or folder"):
        find_scenarios([tmp_path / "x"])
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    told: list[str] = []
    with pytest.raises(InputError, match="no scenario in this folder"):
        find_scenarios([tmp_path], told.append)
    assert told == [f"{tmp_path}/gone.yaml: a link to nothing"]


PIECES = st.sampled_from(
    [
        "name: s\n",
        "script:\n",
        "script: []\n",
        "  - {say: hi}\n",
        "  - say: hi\n",
        "    times: 2\n",
        "inbox: x\n",
        "faults:\n",
        "  - {kind: http.status}\n",
        "  - kind\n",
        "variants:\n",
        "  v:\n",
        "    limits: {real_s: 1}\n",
        "tools: {t: {script: [{ok: 1}]}}\n",
        "tools: 3\n",
        "checks:\n",
        "  v: {faults: 3}\n",
        "session: {messages: [{role: user, content: [{type: 3}]}]}\n",
        "wire: [1]\n",
        "stream: both\n",
        "wire: {}\n",
        "expect: {must: x}\n",
        "purposes: {a: b}\n",
        "stream: []\n",
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join).map(str.encode) | st.binary(max_size=40))
def test_no_file_raises_anything_but_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = write(tmp_path_factory.getbasetemp(), data)
    names, place = loaded(path)
    assert names == {"s"} or place.startswith(str(path))


def loaded(path: Path) -> tuple[set[str], str]:
    """The names of what a file holds, and the place of what is wrong with it."""
    try:
        return {run.name for run in load_scenarios(path)}, ""
    except InputError as error:
        return set(), error.place


def test_the_scenarios_of_the_project_are_read() -> None:
    folder = Path(__file__).parents[2] / "scenarios"
    runs = [run for path in find_scenarios([folder]) for run in load_scenarios(path)]
    assert len({run.run_name for run in runs}) == len(runs) >= 44
