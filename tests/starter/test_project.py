"""What is found in the texts of a project; and nothing in other texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.starter.libraries import declared
from harness.starter.project import is_code, named, proposal, survey
from tests.starter.projects import FOUND, LOOP, METHOD, OPENAI, PROJECT, PYDANTIC


@pytest.mark.parametrize("kind", FOUND)
def test_the_agent_of_a_project(kind: str) -> None:
    files, spec, form, wire = FOUND[kind]
    one = proposal(survey(files))
    assert one is not None
    assert (one.spec, one.kind, one.wire) == (spec, form, wire)
    assert one.line <= len(files[one.path].splitlines())


@pytest.mark.parametrize("files", [{}, {"pyproject.toml": '[project]\nname = "x"\n'}])
def test_a_folder_without_code_has_no_agent(files: dict[str, str]) -> None:
    assert proposal(survey(files)) is None


@pytest.mark.parametrize(
    "files",
    [
        {"math.py": "def answer(text: str) -> str:\n    return text\n"},
        {"bot.py": "import anthropic\n\ndef answer(text: str):\n    print(text)\n"},
        {"my-bot.py": LOOP},
        {"index.d.ts": "export function answer(text: string): string"},
    ],
)
def test_code_without_an_agent_says_what_was_looked_for(files: dict[str, str]) -> None:
    (name,) = files
    with pytest.raises(InputError) as caught:
        proposal(survey(files, [name]))
    assert f"no agent was found in its code ({name}); looked for" in caught.value.what
    assert "--target MODULE:FUNCTION, --target 'process:COMMAND {text}'" in caught.value.what


@pytest.mark.parametrize(
    "name", ["a.ipynb", "main.go", "src/lib.rs", "App.tsx", "run.sh", "Main.java", "x.R", "a.php"]
)
def test_code_in_any_language_is_code(name: str) -> None:
    assert is_code(name)
    with pytest.raises(InputError, match=f"in its code \\({name}\\)") as caught:
        proposal(survey({}, [name]))
    assert ("a notebook cannot be imported" in caught.value.what) == name.endswith(".ipynb")


@pytest.mark.parametrize("name", ["README.md", "data.json", "pyproject.toml", "LICENSE", "a.csv"])
def test_prose_and_data_are_no_code(name: str) -> None:
    assert not is_code(name)


def test_parts_that_are_alike_are_named() -> None:
    files = {f"{name}/main.py": OPENAI for name in "abc"}
    with pytest.raises(InputError, match=r"3 parts .* a\.main:ask \(a/main\.py:6\), b\.main"):
        proposal(survey(files))
    chosen = named("b.main:ask", files, survey(files))
    assert chosen is not None
    assert chosen.path == "b/main.py"


def test_a_declared_library_without_an_agent_asks_for_a_name() -> None:
    with pytest.raises(InputError, match="declares pydantic-ai, and no agent"):
        proposal(survey({"pyproject.toml": PROJECT, "x.py": "print(1)\n"}))


@pytest.mark.parametrize(
    ("name", "text", "packages"),
    [
        ("pyproject.toml", PROJECT, ["pydantic-ai"]),
        ("pyproject.toml", '[tool.poetry.dependencies]\nopenai = "^1"\n', ["openai"]),
        ("requirements-dev.txt", "# x\nopenai_agents==0.1 ; extra\n", ["openai-agents"]),
        ("uv.lock", '[[package]]\nname = "anthropic"\nversion = "1"\n', ["anthropic"]),
        ("package.json", '{"devDependencies": {"ai": "", "openai": ""}}', ["openai (npm)", "ai"]),
        ("package.json", "{", []),
        ("package.json", '{"dependencies": ["ai"]}', []),
        ("package.json", "[1]", []),
    ],
)  # fmt: skip
def test_the_packages_that_a_file_declares(name: str, text: str, packages: list[str]) -> None:
    assert [row.package for row in declared({name: text})] == packages


def test_an_agent_of_a_project_below_is_set_up_there() -> None:
    files = {"services/bot/bot.py": LOOP, "services/bot/pyproject.toml": PROJECT}
    with pytest.raises(InputError, match="in services/bot: cd services/bot && harness init"):
        proposal(survey({**files, "pyproject.toml": "[project]\n"}))
    one = proposal(survey({"bot.py": LOOP, "web/package.json": "{}", "web/tsconfig.json": "{}"}))
    assert one is not None


def test_what_a_user_names() -> None:
    files = {"bot.py": LOOP + "\n\ndef mine(x):\n    return x\n\nmade = object()\n"}
    found = survey(files)

    def kind(spec: str) -> str | None:
        one = named(spec, files, found)
        return one and one.kind

    assert kind("bot:chat") == "chat"
    assert kind("bot:mine") == "brief"
    assert kind("bot:made") == "brief"
    assert kind("elsewhere:agent") is None
    assert kind("process:node x.mjs") is None
    assert kind("reference") is None
    with pytest.raises(InputError, match=r"bot\.py has no 'chatt'; did you mean 'chat'"):
        kind("bot:chatt")


def test_a_class_that_needs_arguments_is_no_candidate() -> None:
    names = [one.name for one in survey({"bot.py": METHOD}).candidates]
    assert names == ["Assistant.reply"]


def test_a_decorated_tool_is_no_candidate_beside_its_agent() -> None:
    one = proposal(survey({"bot.py": PYDANTIC}))
    assert one is not None
    assert one.name == "agent"


@given(st.dictionaries(st.sampled_from(["a.py", "b.ts", "package.json", "uv.lock"]), st.text()))
def test_no_text_breaks_the_survey(files: dict[str, str]) -> None:
    survey(files)
