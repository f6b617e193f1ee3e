from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.targets import names, of_callable, resolve

AGENT = """
def agent(brief):
    return "plain"

async def slow(brief):
    return "async"

class Agents:
    class Inner:
        @staticmethod
        def run(brief):
            return "nested"

class Callable:
    def __call__(self, brief):
        return "object"

ready = Callable()
number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with a module of agents; imports and the path are as before after."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "my_agents.py").write_text(AGENT)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(("has", "finds"), [(None, "sk-harness-dummy"), ("its-own", "its-own")])
def test_a_module_finds_a_key_when_it_is_imported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, has: str | None, finds: str
) -> None:
    if has:
        monkeypatch.setenv("OPENAI_API_KEY", has)
    else:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code = f'import os\nKEY = os.environ["OPENAI_API_KEY"]\n{AGENT}'
    (folder / "with_client.py").write_text(code)
    resolve("with_client:agent")
    assert vars(sys.modules["with_client"])["KEY"] == finds
    assert os.environ.get("OPENAI_API_KEY") == has


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("my_agents:agent", "plain"),
        ("my_agents:Agents.Inner.run", "nested"),
        ("my_agents:ready", "object"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_an_import_path_is_a_python_target(spec: str, said: str) -> None:
    found = resolve(spec)
    assert (found.kind, found.text, found.options) == ("python", spec, {})
    assert found.agent is not None
    assert found.agent(None) == said


@pytest.mark.usefixtures("folder")
def test_a_class_may_be_an_agent() -> None:
    agent = resolve("my_agents:Callable").agent
    assert isinstance(agent, type)


def test_the_current_directory_goes_first(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    (other / "my_agents.py").write_text("def agent(brief): return 'other'")
    sys.path.insert(0, str(other))
    agent = resolve("my_agents:agent").agent
    assert agent is not None
    assert agent(None) == "plain"
    assert sys.path[:2] == [str(folder), str(other)]


def test_the_path_grows_once_and_not_for_nothing(folder: Path) -> None:
    before = list(sys.path)
    resolve("reference")
    resolve("http://127.0.0.1:9000/run")
    with pytest.raises(InputError):
        resolve("no_such_module_at_all:agent")
    assert sys.path in (before, [str(folder), *before])
    resolve("my_agents:agent")
    resolve("my_agents:slow")
    assert sys.path == [str(folder), *before]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise RuntimeError('two\\nlines')", "cannot be imported: RuntimeError: two lines"),
        ("def agent(:", "cannot be imported: SyntaxError: "),
        ("import sys; sys.exit(3)", "cannot be imported: SystemExit: 3"),
        ("import no_such_thing_here", "cannot be imported: ModuleNotFoundError: "),
    ],
)
def test_a_module_that_cannot_be_imported(folder: Path, source: str, words: str) -> None:
    (folder / "broken_agent.py").write_text(source)
    before = list(sys.path)
    with pytest.raises(InputError) as caught:
        resolve("broken_agent:agent")
    assert words in caught.value.what
    assert "\n" not in str(caught.value)
    assert caught.value.place == "target 'broken_agent:agent'"
    assert sys.path == before


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("refrence", "no such target; did you mean 'reference'?"),
        ("", "no such target; the nearest of "),
        ("my_agents:agnt", "my_agents has no 'agnt'; did you mean 'agent' or 'Agents'?"),
        ("my_agents:Agents.Iner", "my_agents has no 'Agents.Iner'; did you mean 'Inner'?"),
        ("my_agents:", "my_agents has no ''; known: "),
        ("my_agents:number", "not an agent, but of the class int; supported are"),
        ("my_agent:agent", "cannot be imported: ModuleNotFoundError"),
        (":agent", "cannot be imported: ValueError"),
        (".relative:agent", "cannot be imported: TypeError"),
        ("my_agents.py:agent", "a module, not a file: my_agents:agent"),
        ("./sub/my_agents.py:agent", "a module, not a file: sub.my_agents:agent"),
        ("process:", "`process:` needs a command"),
        ("process:   ", "`process:` needs a command"),
        ("process:no-such-program-here x", "no such program: no-such-program-here"),
        ("process:echo 'open", "the command cannot be read"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_names_no_target(spec: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(spec)
    assert words in caught.value.what
    assert caught.value.place == f"target {spec!r}"


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("stream=false", {"stream": False}),
        ("stream=true&n=12&x=-3", {"stream": True, "n": 12, "x": -3}),
        ("name=a.b-c&empty=", {"name": "a.b-c", "empty": ""}),
        ("big=99999999999999999999", {"big": "99999999999999999999"}),
        ("cancel=sigint", {"cancel": "sigint"}),
        ("half=1.5", {"half": "1.5"}),
    ],
)
@pytest.mark.parametrize("bare", ["reference", "process:echo a b", "http://127.0.0.1:9000/run"])
def test_options_follow_any_target(bare: str, query: str, options: dict[str, Any]) -> None:
    found = resolve(f"{bare}?{query}")
    assert (found.text, found.options) == (f"{bare}?{query}", options)


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ("process:echo agent.js", ("echo", "agent.js")),
        ("process:echo 'a b' c", ("echo", "a b", "c")),
        ("process:echo what? x", ("echo", "what?", "x")),
        ("process:echo 'http://x/?a=b'", ("echo", "http://x/?a=b")),
        ("process:echo http://x/?a=b c", ("echo", "http://x/?a=b", "c")),
        ("process:echo 'http://x/?a=b' c?n=1", ("echo", "http://x/?a=b", "c")),
    ],
)
def test_a_command_keeps_its_own_question_marks(spec: str, command: tuple[str, ...]) -> None:
    assert resolve(spec).command == command


def test_a_server_and_the_reference() -> None:
    server = resolve("https://127.0.0.1:9000/run?x=1")
    assert (server.kind, server.url) == ("http", "https://127.0.0.1:9000/run")
    reference = resolve("reference?stream=false")
    assert (reference.kind, reference.options) == ("python", {"stream": False})
    assert callable(reference.agent)


def test_a_function_at_hand_is_a_target() -> None:
    found = of_callable(os.getcwd, {"a": 1})
    assert (found.kind, found.agent, found.options) == ("python", os.getcwd, {"a": 1})
    assert found.text.endswith(":getcwd")
    assert "reference" in names()
