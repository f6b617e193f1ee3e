"""Chat endpoints in the sources of a server, and the target of one line that starts each.

A route counts where its file is near a model. Its body has a field with a usual name for what the
user says, or for the whole conversation. Which field holds the answer is not looked for: the run
sees that in the answer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from harness.starter.candidate import TEXTS, Candidate
from harness.starter.libraries import package_json
from harness.starter.python_sources import Source, module_of

_SESSIONS = ("session_id", "session", "conversation_id", "thread_id", "chat_id", "sessionId")
_SERVERS = {
    "FastAPI": "uvicorn{folder} {module}:{name} --port {{port}}",
    "Starlette": "uvicorn{folder} {module}:{name} --port {{port}}",
    "Flask": "flask --app {module}:{name} run --port {{port}}",
}
"""How an application of each class is started, below a folder `src` too."""

_READ = re.compile(r"""(?:\.get\(|\[)\s*["'](\w+)["']""")
_PREFIX = re.compile(r"""APIRouter\([^)]{0,500}prefix\s*=\s*["']([^"']+)["']""")
_INCLUDED = re.compile(
    r"""include_router\(\s*([\w.]++)[^)]{0,500}prefix\s*=\s*(?:f?["'])([^"'{]+)["']"""
)
_ROUTE = re.compile(
    r"""(?:\b\w+\.post\(|\b(?:url|pathname)\s*={2,3})\s*["'`](/[^"'`]{0,200})["'`]"""
)
"""A route of a library, or the comparison in a server that Node itself makes."""
_BODY = re.compile(
    r"""(?:const|let)\s*\{([^{}]{0,500})\}(?:\s*:[^={}]{0,50}(?:\{[^{}]{0,500}\})?)?\s*=\s*(?:await\s+)?[\w.]{0,99}(?:body|json\(\)|JSON\.parse\()"""
    r"""|(?:body|JSON\.parse\([^()]{0,99}\))\??\.(\w+)"""
)
_UI = re.compile(r"\b(?:UIMessage|convertTo(?:Model|Core)Messages)\b")
"""The AI SDK converts what its `useChat` posts: messages of parts."""

_PORT = re.compile(r"""listen\(\s*(?:\{\s*port:\s*)?(\d{2,5})""")


def python_endpoints(sources: Iterable[Source], near: set[str]) -> Iterator[Candidate]:
    """Yield the endpoints of Python servers."""
    known = list(sources)
    for each in known:
        for node in each.tree.body if each.module in near else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                route = next(filter(None, map(_posted, node.decorator_list)), "")
                fields = _fields(each, node, known) if route else []
                if start := _started(each, route, fields, known) if route else "":
                    yield Candidate(
                        path=each.path, line=node.lineno, kind="endpoint", name=node.name,
                        module=each.module, wire=each.wire, start=start,
                    )  # fmt: skip


def _posted(decorator: ast.expr) -> str:
    """The path of a decorator that makes a route for POST; "" for any other."""
    if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
        return ""
    path = next((arg.value for arg in decorator.args if isinstance(arg, ast.Constant)), "")
    is_post = decorator.func.attr == "post" or (
        decorator.func.attr in ("route", "api_route") and "POST" in ast.unparse(decorator)
    )
    return str(path) if is_post and str(path).startswith("/") else ""


def _fields(
    each: Source, node: ast.FunctionDef | ast.AsyncFunctionDef, sources: list[Source]
) -> list[str]:
    """The fields of the body: of the class that a parameter has, else those that the code reads."""
    kinds = {ast.unparse(arg.annotation) for arg in node.args.args if arg.annotation}
    classes = [
        item
        for source in (each, *sources)
        for item in source.tree.body
        if isinstance(item, ast.ClassDef) and item.name in kinds
    ]
    declared = [row.target.id for made in classes[:1] for row in made.body
                if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name)]  # fmt: skip
    return declared or _READ.findall(ast.unparse(node))


def _started(each: Source, route: str, fields: Iterable[str], sources: list[Source]) -> str:
    """The target; "" without an application, or without a field for the text."""
    order = [each, *sources]
    for source in order:
        for node in source.tree.body:
            made = node.value if isinstance(node, ast.Assign) else None
            kind = source.dotted(made.func).rpartition(".")[2] if isinstance(made, ast.Call) else ""
            if kind in _SERVERS and isinstance(node, ast.Assign):
                folder = " --app-dir src" if source.path.startswith("src/") else ""
                command = _SERVERS[kind].format(
                    folder=folder, module=source.module, name=ast.unparse(node.targets[0])
                )
                return _target(command, _prefix(each, source) + route, fields)
    return ""


def _prefix(each: Source, app: Source) -> str:
    """What stands before the paths of a router: its own prefix after that of its application."""
    own = found[1] if (found := _PREFIX.search(each.text)) else ""
    stem = module_of(each.path).rpartition(".")[2]
    included = [prefix for name, prefix in _INCLUDED.findall(app.text)
                if stem in app.imports.get(name.partition(".")[0], name).split(".")]  # fmt: skip
    return f"{included[0] if included and each is not app else ''}{own}"


def _target(
    command: str, path: str, fields: Iterable[str], port: str = "", form: str = "messages"
) -> str:
    """The target; `form` is the option for a page of the user that keeps the conversation."""
    names = list(dict.fromkeys(fields))
    text = next((name for name in names if name.lower() in TEXTS), "")
    whole = "messages" if "messages" in names and not text else ""
    session = next((name for name in names if name in _SESSIONS), "")
    options = {"chat": path, "text": text, form: whole, "session": session, "port": port}
    said = "&".join(f"{key}={value}" for key, value in options.items() if value)
    return f"process:{command}?{said}" if text or whole else ""


def node_endpoints(
    path: str, text: str, wire: str, files: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield the endpoints of a Node file that is near a model."""
    command, port = _node_server(path, files)
    for found in _ROUTE.finditer(text):
        after = _ROUTE.search(text, found.end())
        within = text[found.end() : after.start() if after else len(text)]
        named = [name for names, one in _BODY.findall(within) for name in (*names.split(","), one)]
        fields = [re.split("[:=]", name)[0].strip() for name in named]
        form = "ui_messages" if _UI.search(text) else "messages"
        if start := _target(command, found[1], filter(None, fields), port, form):
            yield Candidate(
                path=path, line=text.count("\n", 0, found.start()) + 1, kind="endpoint",
                name=found[1], wire=wire, start=start, asks=True,
            )  # fmt: skip


def _node_server(path: str, files: Mapping[str, str]) -> tuple[str, str]:
    """The command that starts a server, and its port where that is fixed."""
    scripts = package_json(files.get("package.json", "")).get("scripts")
    command = scripts.get("start", "") if isinstance(scripts, dict) else ""
    if any(sign in command for sign in "&|;$="):
        command = "npm start --silent"
    texts = [text for name, text in files.items() if not name.endswith((".json", ".py"))]
    is_free = any("env.PORT" in text for text in texts)
    ports = [found[1] for text in texts if (found := _PORT.search(text))]
    return command or f"node {path}", "" if is_free or not ports else ports[0]
