"""What is wrong with a scenario file, said with file, line and the nearest word."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.files import load_scenarios
from tests.files.scenario_files import MINIMAL, write

TOOL = "tools:\n  memory:\n    script:\n      - {ok: x}\n"

MISTAKES = [
    ("", 1, "a scenario is a mapping with `inbox` and `script`"),
    ("- a\n", 1, "a scenario is a mapping"),
    ("name: s\n", 1, "key `script` is missing"),
    ("name: Two Words\nscript: []\n", 1, "key `name`: 'Two Words' is not in kebab case"),
    ("name: 3\nscript: []\n", 1, "key `name`: 3 is not in kebab case"),
    (MINIMAL + "variants:\n  a: {name: b}\n", 6, "variant `a`: it changes `name`"),
    (MINIMAL + "titel: x\n", 5, "key `titel`: unknown; did you mean 'title'?"),
    (MINIMAL + "variant: x\n", 5, "key `variant`: unknown; did you mean 'variants'?"),
    (MINIMAL + "stream: maybe\n", 5, "key `stream`: true, false or both"),
    (MINIMAL + "wire: []\n", 5, "key `wire`: a list names at least one"),
    (MINIMAL + "wire: [anthropic, anthropic]\n", 5, "and each once"),
    (MINIMAL + "wire: antropic\n", 5, "key `wire`: 'antropic' is not one of anthropic, "),
    (MINIMAL + "dialect: anthropic-1999\n", 5, "no dialect of anthropic is named 'anthropic-1999'"),
    (
        MINIMAL + "limits:\n  model_call: 3\n",
        6,
        "key `model_call`: unknown; did you mean 'model_calls' or 'tool_calls' or "
        "'provider_calls'?",
    ),
    (
        MINIMAL + "orders:\n  - {at: 2, first: 2}\n  - {at: 1, first: 2}\n  - {at: 2, first: 3}\n",
        8,
        "point 2 has an order already, in orders[0]: one place goes first",
    ),
    (
        MINIMAL + "faults:\n  - {kind: http.overloaded, when: [1, 3, 1]}\n",
        6,
        "fault http.overloaded: call 1 stands twice; it strikes each call once",
    ),
    (MINIMAL + "limits: {real_s: -1}\n", 5, "key `real_s`: expected `float` > 0.0"),
    (MINIMAL + "checks: {backoff: {cap_s: 5 min}}\n", 5, "write the number of seconds alone"),
    (
        MINIMAL + "faults:\n  - {kind: transport.latency, wait_s: 2m}\n",
        6,
        "setting 'wait_s': Expected `float`, got `str`; write the number of seconds alone",
    ),
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
        "did you mean 'http.status' or 'http.retry_after' or 'http.key_rotated'?",
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
    (MINIMAL + "policy: opn\n", 5, "key `policy`: 'opn' is not one of open, strict"),
    (
        MINIMAL + "expect:\n  outcome: [complted]\n",
        6,
        "'complted' is not one of completed, cancelled, ",
    ),
    (MINIMAL + "  - {say: hi, when: {hass: x}}\n", 5, "key `hass`: unknown; did you mean 'has'?"),
    (MINIMAL + "  - {say: hi, when: {}}\n", 5, "`when` takes `has`, `lacks` or both"),
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
    (MINIMAL + "expect:\n  reply: {pattern: '('}\n", 6, "no regular expression"),
    (MINIMAL + "expect:\n  reply:\n  - {has: hi}\n  - {turn: 2}\n", 8, "`reply` takes one of"),
    (MINIMAL + "expect:\n  reply: [{has: hi, session: man}]\n", 6, "did you mean 'main'?"),
    (MINIMAL + "expect:\n  reply: {hass: hi}\n", 6, "key `hass`: unknown"),
    (
        MINIMAL + "purposes:\n  abc: compakt\n",
        5,
        "key `purposes`: 'compakt' is not one of compact, aux, main",
    ),
    (
        MINIMAL + "checks:\n  reload_equivalense: {}\n",
        6,
        "there is no check 'reload_equivalense'; did you mean 'reload_equivalence'?",
    ),
    (
        MINIMAL + "checks:\n  durable_first: {}\n  no_progress_stop: {repets: 4}\n",
        7,
        "the check no_progress_stop has no setting 'repets'; did you mean 'repeats'?",
    ),
    (
        MINIMAL + "expect:\n  must:\n    - inbound_exactly_onc\n",
        7,
        "there is no check 'inbound_exactly_onc'; did you mean 'inbound_exactly_once'",
    ),
    (
        MINIMAL + "expect:\n  known: [no_progress_stop.same_cal]\n",
        6,
        "there is no finding 'no_progress_stop.same_cal'; did you mean",
    ),
    (
        MINIMAL + "expect:\n  known: [guest.polite.word]\n",
        6,
        "no plug-in with the prefix 'guest' is loaded",
    ),
    (
        MINIMAL + TOOL + "expect:\n  calls:\n    tool: {memry: {max: 1}}\n",
        11,
        "there is no tool 'memry'; did you mean 'memory'?",
    ),
    (
        "name: s\ninbox: hi\n" + TOOL + "script:\n  - {use: memry}\n",
        8,
        "there is no tool 'memry'; did you mean 'memory'? Or say `unoffered: true`",
    ),
    (MINIMAL + TOOL + "expect:\n  inputs: {memry: {}}\n", 10, "there is no tool 'memry'"),
    (MINIMAL + TOOL + "expect:\n  must_not: {call: [memry]}\n", 10, "there is no tool 'memry'"),
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
    (
        MINIMAL + "session:\n  file: s.jsonl\n  format: jsonll\n",
        7,
        "no store reader 'jsonll'; did you mean 'jsonl'",
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

NO_MISTAKES = [
    "  - {use: absent, input: {}}\nexpect: {must_not: {call: [absent]}}\n",
    "expect: {known: [valid_request.V4, limit.model_calls, target.crashed]}\n",
    "expect: {must: [durable_first]}\n",
    "checks: {no_progress_stop: {repeats: 4}}\n",
]


@pytest.mark.parametrize("text", NO_MISTAKES)
def test_names_that_are_known_are_no_mistakes(tmp_path: Path, text: str) -> None:
    """A tool that the model asks for may be forbidden, though it is not offered."""
    path = tmp_path / "s.yaml"
    path.write_text(MINIMAL + text, "utf-8")
    assert load_scenarios(path)


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
    with pytest.raises(InputError, match="key `name`: 'My Scenario' is not in kebab"):
        load_scenarios(path)


@pytest.mark.parametrize(
    ("data", "words"), [(b"\xff\xfe\x00", "not UTF-8 at byte 0"), (None, "cannot be read")]
)
def test_what_is_no_text_file(tmp_path: Path, data: bytes | None, words: str) -> None:
    path = tmp_path / "s.yaml" if data is None else write(tmp_path, data)
    with pytest.raises(InputError, match=words):
        load_scenarios(path)
