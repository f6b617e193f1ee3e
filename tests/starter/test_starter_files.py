"""The files of a first test: they can be read by what reads them, for each kind of agent."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
import yaml

from harness.core.values.errors import InputError
from harness.files import load_scenarios
from harness.starter.project import proposal, survey
from harness.starter.starter_files import (
    EXAMPLE,
    SCHEMA,
    STARTERS,
    Setup,
    Starter,
    of_target,
    setup_of,
    starter_files,
    template,
    with_profile,
)
from tests.starter.projects import FOUND

FACTS = {"schema": "{}\n", "requirement": "loop-harness==1", "wire": ""}


@pytest.mark.parametrize("kind", FOUND)
def test_each_file_can_be_read(kind: str) -> None:
    files = FOUND[kind][0]
    one = proposal(survey(files))
    assert one is not None
    setup = setup_of(one, files)
    made = {f.path: f.text for f in starter_files(setup, STARTERS[1], files, FACTS)}
    assert "%{" not in "".join(made.values())
    for path, text in made.items():
        if path.endswith(".py"):
            compile(text, path, "exec")
            assert max(map(len, text.splitlines())) <= 100, path
        if path.endswith((".yml", ".yaml")):
            assert isinstance(yaml.safe_load(text), dict)
    test = next(path for path in made if path.endswith("test_harness.py"))
    assert f"pytest {test}" in made[".github/workflows/harness.yml"]
    assert ("tests/" in test) == any(path.startswith("tests/") for path in files)


def test_the_adapter_of_an_agent_object_gives_it() -> None:
    assert "\nagent = project.agent  #" in adapter_of("pydantic-ai")[1]
    graph = adapter_of("LangChain")
    assert "\nagent = project.build()  #" in graph[1]
    assert graph[0].target == "harness_agent:agent"


def adapter_of(kind: str) -> tuple[Setup, str]:
    files = FOUND[kind][0]
    one = proposal(survey(files))
    assert one is not None
    setup = setup_of(one, files)
    assert setup.adapter is not None
    return setup, setup.adapter.text


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("FastAPI", "process:uvicorn --app-dir src bot.main:app --port {port}"
         "?chat=/api/v1/chat&text=message&session=session_id"),
        ("Flask", "process:flask --app web:web run --port {port}?chat=/ask&text=question"),
        ("Express", "process:node web.js?chat=/chat&text=message&session=sessionId&port=8080"),
        ("FastAPI with the conversation",
         "process:uvicorn web:app --port {port}?chat=/chat&messages=messages"),
        ("Express for useChat", "process:tsx web.ts?chat=/api/chat&ui_messages=messages"),
        ("a command", "process:python tool.py {text}"),
    ],
)  # fmt: skip
def test_a_target_of_one_line_needs_no_adapter(kind: str, target: str) -> None:
    files = FOUND[kind][0]
    one = proposal(survey(files))
    assert one is not None
    assert setup_of(one, files) == Setup(
        target=target, wire=one.wire, is_node=kind.startswith("Express")
    )


def test_typescript_is_started_by_tsx_or_from_where_it_is_built() -> None:
    files = FOUND["a class of Node"][0]
    one = proposal(survey(files))
    assert one is not None
    by_tsx = setup_of(one, files)
    assert by_tsx.target == "process:node --import tsx harness_agent.mjs"
    assert by_tsx.adapter is not None
    assert 'import("./src/bot.ts")' in by_tsx.adapter.text
    assert 'ANTHROPIC_BASE_URL += "/v1"' in by_tsx.adapter.text
    plain = {"src/bot.ts": files["src/bot.ts"], "tsconfig.json": '{"outDir": "./lib"} // built'}
    built = setup_of(one, plain, is_there=lambda path: path == "lib/bot.js")
    assert built.target == "process:node harness_agent.mjs"
    assert built.adapter is not None
    assert 'import("./lib/bot.js")' in built.adapter.text
    with pytest.raises(InputError, match=r"src/bot\.ts is TypeScript: install tsx"):
        setup_of(one, plain)


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["app/tests"]\n'},
         "app/tests/test_harness.py"),
        ({"test/test_x.py": ""}, "test/test_harness.py"),
        ({"test.py": "", "web/tests/x.py": ""}, "test_harness.py"),
    ],
)  # fmt: skip
def test_a_test_stands_where_the_tests_of_the_project_are(files: dict[str, str], path: str) -> None:
    setup = of_target("bot:agent", {})
    made = {f.path: f.text for f in starter_files(setup, STARTERS[1], files, FACTS)}
    assert path in made
    depth = path.count("/")
    assert (f"parents[{depth}]" in made[path]) == (depth > 0)


def test_an_adapter_is_known_again_by_its_target() -> None:
    setup, text = adapter_of("a method")
    assert "agents = defaultdict(project.Assistant)  # one for each session" in text
    assert "return await agents[session].reply(text)" in text
    assert setup.told == "TOLD of harness_agent.py"
    again = of_target(setup.target, {"harness_agent.py": text})
    assert (again.module, again.answers, again.is_async) == ("harness_agent", True, True)
    assert (again.name, again.target) == ("agent", setup.target)


def test_a_target_that_is_no_import_is_named_in_the_test() -> None:
    setup = of_target("process:node x.mjs", {})
    texts = [f.text for f in starter_files(setup, STARTERS[1], {}, FACTS)]
    assert any('play("scenarios/overloaded.yaml", "process:node x.mjs")' in t for t in texts)


@pytest.mark.parametrize("one", STARTERS, ids=lambda one: one.name)
@pytest.mark.parametrize("wire", ["", "openai-chat"])
def test_a_first_scenario_is_a_scenario(one: Starter, wire: str, tmp_path: Path) -> None:
    path = tmp_path / f"{one.name}.yaml"
    path.write_text(one.text(wire))
    (scenario,) = load_scenarios(path)
    assert scenario.wire == (wire or "anthropic")
    assert scenario.name == one.name
    first = one.text(wire).splitlines()[0]
    assert first == f"# yaml-language-server: $schema={Path(SCHEMA).name}"


def test_the_example_is_at_the_line_that_is_told() -> None:
    tree = ast.parse(template("agent.py.txt"))
    (agent,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "agent")
    assert agent.lineno == EXAMPLE.line


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# mine\n[tool.x]\na = 1 # kept\n",
        "[tool.harness] # ours\nseed = 3\n\n[tool.y]\nb = 2\n",
        "[tool.harness.limits]\nreal_s = 9\n",
        "[project]\nname = 'x'",
    ],
)
def test_a_configuration_keeps_what_it_says(before: str) -> None:
    text = with_profile(before, ("tool", "harness"), "agent")
    kept = [line for line in before.splitlines() if line.strip()]
    assert [line for line in text.splitlines() if line in kept] == kept
    assert tomllib.loads(text)["tool"]["harness"]["profile"] == "agent"
