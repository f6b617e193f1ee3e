"""The files of a first test: an adapter for the agent, a scenario, a pytest file, CI, pre-commit.

Their texts are templates beside this module, in which `%{name}` stands for a value.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from string import Template
from typing import Literal, TypeAlias

import msgspec

from harness import providers
from harness.core.values.table_file import package_text, table
from harness.starter.candidate import Candidate
from harness.starter.node_sources import started

SCENARIOS, SCHEMA = "scenarios", "scenarios/scenario.schema.json"
WORKFLOW, PRE_COMMIT = ".github/workflows/harness.yml", ".pre-commit-config.yaml"
SKILL = "loop-harness/SKILL.md"
"""The skill for coding agents, below the folder of their skills."""

PYTHON_ADAPTER, NODE_ADAPTER = "harness_agent.py", "harness_agent.mjs"

_OBJECT, _CHAT = "harness_agent:agent", "harness_agent:agent?mount=true"

EXAMPLE = Candidate(
    path="agent.py", line=7, kind="brief", name="agent", module="agent", wire="anthropic"
)
"""The agent that an empty folder gets."""


class Starter(msgspec.Struct, frozen=True):
    """A first scenario: its story, what a finding of it means, and how an agent is put right."""

    name: str
    story: str
    mend: str
    needs_tools: bool = False

    @property
    def path(self) -> str:
        """Its file in the project."""
        return f"{SCENARIOS}/{self.name}.yaml"

    def text(self, wire: str) -> str:
        """Its text, for an agent that speaks this wire."""
        text = template(f"{self.name}.yaml")
        line = "" if wire in ("", providers.DEFAULT) else f"wire: {wire}\n"
        return text.replace("policy: open", f"{line}policy: open", 1)


STARTERS = tuple(table("harness.starter", "starters.tsv", Starter).values())
"""The first scenarios, what teaches most first."""


class StarterFile(msgspec.Struct, frozen=True):
    """A file to be written: its path below the project's folder, its text, and what it is."""

    path: str
    text: str
    what: str


State: TypeAlias = Literal[
    "written", "extended", "replaced", "unchanged", "kept", "elsewhere", "no source"
]


class Piece(StarterFile, frozen=True, kw_only=True):
    """A file of a plan, and what becomes of it.

    `added` is the part of a file that is there already. `elsewhere`: it belongs to the folder above
    that holds the repository. `no source`: no other machine could install loop-harness from where
    this one has it.
    """

    state: State
    added: str = ""

    @property
    def is_written(self) -> bool:
        """Whether the file is to be written."""
        return self.state in ("written", "extended", "replaced")

    @property
    def is_of_the_test(self) -> bool:
        """Whether a first test rests on it; the skill is for reading alone."""
        return not self.path.endswith(SKILL)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent is started: the specification of the target, and what a test calls.

    `adapter` is the file that connects it, if it needs one. `module` is what a pytest file imports,
    "" where it names the target. `answers`: it is a function from text to text.
    """

    target: str
    wire: str = ""
    adapter: StarterFile | None = None
    module: str = ""
    name: str = "agent"
    answers: bool = False
    is_async: bool = False
    is_node: bool = False

    @property
    def told(self) -> str:
        """The part of the adapter that names the errors which the user is told; "" without one."""
        if self.adapter is None:
            return ""
        names = [name for name in ("TOLD", "isTold") if name in self.adapter.text]
        return f"{names[0]} of {self.adapter.path}" if names else ""


class _Text(Template):
    delimiter = "%"


def template(file: str, /, **values: str) -> str:
    """A template with its values."""
    text = package_text("harness.starter", f"templates/{file}")
    return _Text(text).substitute(values) if values else text


def of_target(target: str, files: Mapping[str, str]) -> Setup:
    """How a target is started that needs no adapter, or has one already."""
    module, _, name = target.removesuffix("?mount=true").partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        return Setup(target=target, is_node="process:node" in target)
    adapter = files.get(PYTHON_ADAPTER, "") if target == _CHAT else ""
    return Setup(
        target=target, module=module, name=name, answers="def answer(text" in adapter,
        is_async="async def answer(text" in adapter,
    )  # fmt: skip


def setup_of(
    one: Candidate, files: Mapping[str, str], python: str = "python",
    is_there: Callable[[str], bool] = lambda path: False,
) -> Setup:  # fmt: skip
    """How a candidate is started, with its adapter; `python` starts a program of Python.

    `is_there` says whether a path of the project exists: what is built is not among its `files`.
    Raises InputError for TypeScript that nothing here can load.
    """
    if one.kind == "endpoint":
        return Setup(target=one.start, wire=one.wire, is_node=not one.path.endswith(".py"))
    if not one.path.endswith(".py"):
        node, file = started(one.path, files, is_there)
        if one.kind == "brief":
            return Setup(target=f"process:{node} {shlex.quote(file)}", is_node=True)
        text = _node_adapter(msgspec.structs.replace(one, path=file), files)
        made = StarterFile(NODE_ADAPTER, text, "connects the agent")
        return Setup(target=f"process:{node} {NODE_ADAPTER}", wire=one.wire, adapter=made,
                     is_node=True)  # fmt: skip
    if one.kind == "command":
        words = f"{shlex.quote(python)} {shlex.quote(one.path)}"
        return Setup(target=f"process:{words} {{text}}", wire=one.wire)
    if one.kind != "brief":
        made = StarterFile(PYTHON_ADAPTER, _adapter(one), "connects the agent")
        is_object = one.kind == "object"
        return Setup(
            target=_OBJECT if is_object else _CHAT, wire=one.wire, adapter=made,
            module="harness_agent", answers=not is_object, is_async=one.is_async,
        )  # fmt: skip
    if one.path.startswith("src/"):
        text = template("reexport.py.txt", title=one.spec, module=one.module, name=one.name)
        made = StarterFile(PYTHON_ADAPTER, text, "finds the agent below src")
        return Setup(target=_OBJECT, wire=one.wire, adapter=made,
                     module="harness_agent")  # fmt: skip
    return Setup(target=one.spec, wire=one.wire, module=one.module, name=one.name)


def _adapter(one: Candidate) -> str:
    is_below_src = one.path.startswith("src/")
    text = template(
        "adapter.py.txt",
        title=one.spec,
        imports="import sys\n" * is_below_src + _FOR_SESSIONS * ("." in one.name),
        more_imports="from pathlib import Path\n" if is_below_src else "",
        keys="\n".join(f'os.environ.setdefault("{key}", "dummy")' for key in _keys(one.wire)),
        path='sys.path.insert(0, str(Path(__file__).parent / "src"))\n' if is_below_src else "",
        module=one.module,
        agent=_connection(one),
    )
    return re.sub(r"\n{4,}", "\n\n\n", text)


_FOR_SESSIONS = "from collections import defaultdict\n"


def _connection(one: Candidate) -> str:
    """The lines that give an agent object, or a function from text to text."""
    made = f"project.{one.name}{'()' if one.is_factory else ''}"
    if one.kind == "object":
        return f"agent = {made}  # an object that harness.adapters knows"
    lines = ["from harness.adapters import is_of_an_api  # noqa: E402", ""]
    owner, _, method = one.name.rpartition(".")
    if owner:
        lines += [f"agents = defaultdict(project.{owner})  # one for each session", "", ""]
    named = {
        "said": f"agents[session].{method}(text)" if owner else f"{made}(text)",
        "session": ', session: str = "main"' if owner else "",
        "of_session": ", message.session" if owner else "",
        "begin": "    agents.clear()  # each run begins without a session\n" if owner else "",
        "async": "async " if one.is_async else "",
        "await": "await " if one.is_async else "",
    }
    return "\n".join([*lines, template("answers.py.txt", **named).rstrip()])


def _keys(wire: str) -> Iterator[str]:
    records = providers.records() if not wire else [providers.record(wire)]
    yield from dict.fromkeys(record.sdk.key_name for record in records)


def _node_adapter(one: Candidate, files: Mapping[str, str]) -> str:
    owner, _, method = one.name.rpartition(".")
    found = f"project.{owner or method}"
    if "module.exports" in files.get(one.path, "") or one.path.endswith(".cjs"):
        name = owner or method
        found = "project.default" if name == "default" else (
            f"{found} ?? project.default?.{name} ?? project.default")  # fmt: skip
    lines = [
        "const agents = new Map(); // one for each session",
        "const answer = (text, session) => {",
        f"  if (!agents.has(session)) agents.set(session, new ({found})());",
        f"  return agents.get(session).{method}(text);",
        "};",
    ]
    return template(
        "adapter.mjs.txt",
        title=f"{one.path}:{one.name}",
        file=json.dumps(f"./{one.path}"),
        before=_AI_SDK if one.library else "",
        answer="\n".join(lines) if owner else f"const answer = {found};",
    )


_AI_SDK = """\
// The AI SDK wants the version in this URL, the official client does not.
if (process.env.ANTHROPIC_BASE_URL) process.env.ANTHROPIC_BASE_URL += "/v1";
"""


def starter_files(
    setup: Setup, starter: Starter, files: Mapping[str, str], facts: Mapping[str, str]
) -> list[StarterFile]:
    """The files of a first test, except the profile; `facts` has `requirement`, `schema` and
    `wire`."""
    test = _test_path(files)
    made = [setup.adapter] if setup.adapter else []
    return [
        *made,
        StarterFile(starter.path, starter.text(facts["wire"]), "a first scenario"),
        StarterFile(SCHEMA, facts["schema"], "what an editor completes scenarios with"),
        StarterFile(test, _test_text(setup, starter, test), "the same in pytest"),
        StarterFile(
            WORKFLOW,
            _workflow(setup, files, test, facts["requirement"]),
            "GitHub Actions: scenarios on each push, fuzz each night",
        ),
        StarterFile(PRE_COMMIT, template("pre-commit.yaml", types=_types(setup)), "pre-commit"),
    ]


def _types(setup: Setup) -> str:
    return "javascript, ts, yaml" if setup.is_node else "python, yaml, toml"


def _test_path(files: Mapping[str, str]) -> str:
    """Where pytest looks for tests by the project's settings, else a folder that holds some."""
    settings = files.get("pyproject.toml", "")
    found = re.findall(r"""^testpaths\s*=\s*(?:\[\s*)?["']([\w./-]+)""", settings, re.MULTILINE)
    folders = {PurePosixPath(path).parts[0] for path in files if path.endswith(".py")}
    there = [name for name in ("tests", "test") if name in folders]
    named = [*(path.strip("./") for path in found), *there]
    return str(PurePosixPath(next(iter(named), "")) / "test_harness.py")


def _test_text(setup: Setup, starter: Starter, path: str) -> str:
    agent = setup.name if setup.module else json.dumps(setup.target)
    agent = "AGENT" if _is_long(setup) else agent
    more = ""
    if setup.answers:
        asked = 'answer("What is the capital of Norway?")'
        asked = f"asyncio.run({asked})" if setup.is_async else asked
        more = template("fake_model.py.txt", asked=asked)
    text = template(
        "test_harness.py.txt",
        file=path,
        head=_head(setup, path),
        test=starter.name.replace("-", "_"),
        story=starter.story,
        scenario=starter.path,
        agent=f'{agent}, options={{"mount": True}}' if "?mount" in setup.target else agent,
        more=more,
    )
    return text.rstrip("\n") + "\n"


def _is_long(setup: Setup) -> bool:
    return not setup.module and len(setup.target) > 50


def _head(setup: Setup, path: str) -> str:
    """The imports of a pytest file."""
    if not setup.module:
        command, sign, options = setup.target.partition("?")
        lines = [f"    {json.dumps(part)}" for part in (command, sign + options)]
        return "\n".join(["AGENT = (", *lines, ")", "", "", ""]) if _is_long(setup) else ""
    names = ", ".join([setup.name, *(["answer"] * setup.answers)])
    lines = ["import asyncio"] if setup.is_async else []
    if "/" in path:
        above = f"Path(__file__).parents[{path.count('/')}]"
        folder = f"sys.path.insert(0, str({above}))  # the project's folder"
        lines += ["import sys", "from pathlib import Path", "", folder, ""]
        lines += [f"from {setup.module} import {names}  # noqa: E402"]
    else:
        lines += [""] if lines else []
        lines += [f"from {setup.module} import {names}"]
    return "\n".join([*lines, "", ""])


def _workflow(setup: Setup, files: Mapping[str, str], test: str, requirement: str) -> str:
    steps = "\n".join(f"      - {line}" if not line.startswith(" ") else f"      {line}"
                      for line in _steps(setup, files))  # fmt: skip
    sources = "'**/*.js', '**/*.mjs', '**/*.ts'" if setup.is_node else "'**/*.py'"
    return template("workflow.yml", requirement=json.dumps(requirement), test=test, steps=steps,
                    sources=sources)  # fmt: skip


def _steps(setup: Setup, files: Mapping[str, str]) -> Iterator[str]:
    yield "uses: actions/checkout@v4"
    yield "uses: actions/setup-python@v5"
    yield "  with:"
    yield '    python-version: "3.12"'
    if setup.is_node:
        yield "uses: actions/setup-node@v4"
        yield "  with:"
        yield '    node-version: "22"'
        yield "run: npm ci" if "package-lock.json" in files else "run: npm install"
    elif "pyproject.toml" in files and "[project]" in files["pyproject.toml"]:
        yield "run: python -m pip install --editable ."
    for path in sorted(files):
        if path.startswith("requirements") and path.endswith(".txt") and not setup.is_node:
            yield f"run: python -m pip install --requirement {path}"
    yield 'run: python -m pip install "$HARNESS" pytest'


def with_profile(text: str, table: tuple[str, ...], name: str) -> str:
    """The text of a configuration in which `profile = NAME` stands, in the table or at its top."""
    line = f'profile = "{name}"\n'
    if not table:
        return line + text if text else line
    header = f"[{'.'.join(table)}]"
    found = re.search(rf"^{re.escape(header)}[ \t]*(#.*)?\n", text, re.MULTILINE)
    if found:
        return text[: found.end()] + line + text[found.end() :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{header}\n{line}"
