from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import InputError
from harness.core.scenario import InboxItem, Turn, When
from harness.load import find_scenarios, load_scenarios

MINIMAL = "name: s\ninbox: hello\nscript:\n  - {say: hi}\n"
TOOL = "tools:\n  memory:\n    script:\n      - {ok: x}\n"


def write(folder: Path, text: str | bytes, name: str = "s.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_short_forms_become_long(tmp_path: Path) -> None:
    text = (
        MINIMAL
        + "checks: [a, {b: {n: 1}}]\nfaults: [{kind: http.status, status: 500, when: [1, 3]}]\n"
    )
    (scenario,) = load_scenarios(write(tmp_path, text))
    assert scenario.inbox == (InboxItem(text="hello"),)
    assert scenario.checks == {"a": {}, "b": {"n": 1}}
    assert scenario.faults[0].settings == {"status": 500}
    assert scenario.faults[0].when == (1, 3)
    assert scenario.script == (Turn(say="hi"),)
    assert (scenario.folder, scenario.stream, scenario.wire) == (str(tmp_path), False, "anthropic")


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


MISTAKES = [
    ("", 1, "a scenario is a mapping with `name`, `inbox` and `script`"),
    ("- a\n", 1, "a scenario is a mapping"),
    ("name: s\n", 1, "key `script` is missing"),
    ("script: []\n", 1, "key `name` is missing"),
    ("name: other\nscript: []\n", 1, "name 'other' is not the file's name"),
    (MINIMAL + "titel: x\n", 5, "key `titel`: unknown; did you mean 'title'?"),
    (MINIMAL + "variant: x\n", 5, "key `variant`: unknown; did you mean 'variants'?"),
    (MINIMAL + "stream: maybe\n", 5, "key `stream`: true, false or both"),
    (MINIMAL + "wire: []\n", 5, "key `wire`: a list names at least one"),
    (MINIMAL + "wire: [anthropic, anthropic]\n", 5, "and each once"),
    (MINIMAL + "wire: antropic\n", 5, "key `wire`: invalid enum value 'antropic'"),
    (MINIMAL + "dialect: anthropic-1999\n", 5, "no dialect of anthropic is named 'anthropic-1999'"),
    (
        MINIMAL + "limits:\n  model_call: 3\n",
        6,
        "key `model_call`: unknown; did you mean 'model_calls'?",
    ),
    (MINIMAL + "limits: {real_s: -1}\n", 5, "key `real_s`: expected `float` > 0.0"),
    ("name: s\nscript:\n  - say: hi\n    times: 0\n", 4, "key `times`: expected `int` >= 1"),
    (
        "name: s\nscript:\n  - say: hi\n    tims: 2\n",
        4,
        "key `tims`: unknown; did you mean 'times'?",
    ),
    (
        "name: s\nscript:\n  - say: hi\n  - blocks:\n      - {type: text}\n",
        5,
        "missing required field `text`",
    ),
    (
        "name: s\nscript:\n  - blocks:\n      - {type: thinking, thinking: x}\n",
        4,
        "'thinking': known: ",
    ),
    (
        MINIMAL + TOOL + "  other:\n    script: [{okay: x}]\n",
        10,
        "key `okay`: unknown; did you mean 'ok'?",
    ),
    (
        MINIMAL + "tools:\n  t:\n    script:\n      - {ok: 1}\n      - {ok: 1, error: x}\n",
        9,
        "only one of",
    ),
    (
        MINIMAL + "faults:\n  - {kind: http.status}\n  - {kind: http.statu}\n",
        7,
        "did you mean 'http.status'?",
    ),
    (MINIMAL + "faults:\n  - kind: http.status\n    often: twice\n", 7, "key `often`: "),
    (
        MINIMAL + "faults:\n  - kind: http.status\n    statu: 5\n",
        6,
        "no setting 'statu'; did you mean 'status'?",
    ),
    (
        MINIMAL + "faults:\n  - {kind: http.status, status: 5}\n",
        6,
        "setting 'status': Expected `int` >= 400",
    ),
    (
        MINIMAL + "faults:\n  - {kind: http.status, on: modle}\n",
        6,
        "on 'modle': did you mean 'model'?",
    ),
    (
        MINIMAL + TOOL + "faults:\n  - kind: tools.late\n    on: tool:memry\n",
        11,
        "did you mean 'memory'?",
    ),
    (
        MINIMAL + "faults: [{kind: http.status, when: {p: 2}}]\n",
        5,
        "key `p`: expected `float` <= 1.0",
    ),
    (
        MINIMAL + "faults: [{kind: http.status, when: {}}]\n",
        5,
        "`when` takes either `after` or `p`",
    ),
    (MINIMAL + "faults:\n  - http.status\n", 6, "a fault is a mapping with `kind`"),
    (MINIMAL + "checks:\n  - 3\n", 6, "a check is a name, or a name with settings"),
    (MINIMAL + "purposes:\n  '(': compact\n", 6, "no regular expression"),
    (
        "name: s\ninbox:\n  - text: a\n    when: {after: modle#3}\nscript: []\n",
        4,
        "inbox message m1: when: ",
    ),
    (
        "name: s\ninbox:\n  - text: a\n    whn: idle\nscript: []\n",
        4,
        "key `whn`: unknown; did you mean 'when'?",
    ),
    (MINIMAL + "variants: [a]\n", 5, "`variants` maps names to changes"),
    (MINIMAL + "variants:\n  v: x\n", 6, "variant `v` is not a mapping"),
    (MINIMAL + "variants:\n  v:\n    limits:\n      restart: 1\n", 8, "did you mean 'restarts'?"),
    (
        MINIMAL + "variants:\n  v: {limits: {restarts: 1,\n    restarts: 2}}\n",
        7,
        "duplicate key `restarts`",
    ),
    (MINIMAL + "variants:\n  ../../etc: {}\n", 6, "a name in kebab case"),
    (MINIMAL + "variants:\n  baseline: {}\n", 6, "not `baseline`"),
    (MINIMAL + "a: [\n", 6, "not YAML"),
    (MINIMAL + "title: !!python/name:os.system\n", 5, "is not allowed"),
]


@pytest.mark.parametrize(("text", "line", "words"), MISTAKES)
def test_a_mistake_says_file_line_and_what(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_scenarios(path)
    assert caught.value.place == f"{path}:{line}"
    assert words in caught.value.what
    assert "\n" not in str(caught.value)


def test_a_name_that_is_no_folder_name(tmp_path: Path) -> None:
    path = write(tmp_path, "name: My Scenario\nscript: []\n", "My Scenario.yaml")
    with pytest.raises(InputError, match="key `name`: in kebab case"):
        load_scenarios(path)


@pytest.mark.parametrize(
    ("data", "words"), [(b"\xff\xfe\x00", "not UTF-8 at byte 0"), (None, "cannot be read")]
)
def test_what_is_no_text_file(tmp_path: Path, data: bytes | None, words: str) -> None:
    path = tmp_path / "s.yaml" if data is None else write(tmp_path, data)
    with pytest.raises(InputError, match=words):
        load_scenarios(path)


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
    with pytest.raises(InputError, match=r"gone.yaml: cannot be read: "):
        find_scenarios([tmp_path])


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
