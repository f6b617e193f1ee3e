"""The supervised world: programs in processes of their own, over loopback."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import providers
from harness.core.history.events import Called, Ended, Killed, Started
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.arming import ArmedFault
from harness.core.transition.ports import Moment
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.core.values.plans import Kill, Plan
from harness.runner import Run, run
from harness.runner.supervise import supervise
from harness.targets import resolve
from tests.runner import programs
from tests.runner.programs import program

HELLO = Scenario(
    name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello to you."),)
)


def _codes(result: Run) -> list[str]:
    return [f.code for f in result.verdict.findings]


def _ended(result: Run) -> Ended:
    last = result.history.events[-1]
    assert isinstance(last, Ended)
    return last


def test_a_program_that_answers_passes(tmp_path: Path) -> None:
    result = run(HELLO, program(tmp_path, programs.GREET))
    assert _codes(result) == []
    assert (result.world, result.verdict.outcome) == ("supervise", "completed")


def test_a_crash_is_data_with_the_last_words(tmp_path: Path) -> None:
    ended = _ended(run(HELLO, program(tmp_path, programs.CRASH)))
    assert (ended.how, ended.exit_code, ended.text) == ("crashed", 7, "about to fail")


def test_a_hang_is_ended_with_its_children(tmp_path: Path) -> None:
    body = "import subprocess; child = subprocess.Popen(['sleep', '60'])\n"
    body += f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n{programs.HANG}"
    scenario = msgspec.structs.replace(HELLO, limits=Limits(real_s=1.5))
    result = run(scenario, program(tmp_path, body))
    assert "target.hung" in _codes(result)
    pid = int((tmp_path / "pid").read_text())
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_never_calling_the_model_is_a_finding(tmp_path: Path) -> None:
    assert "run.nothing_intercepted" in _codes(run(HELLO, program(tmp_path, programs.NEVER_CALLS)))


AT_A_SECOND_V1 = """
for message in inbox():
    try:
        post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/v1/messages", {})
    except OSError:
        say(message, "")
"""


@pytest.mark.parametrize("kind", ["process", "http"])
def test_a_target_that_asks_at_another_path_is_told_the_path_and_the_next_step(
    kind: str, tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Server, "body", AT_A_SECOND_V1)
    target = program(tmp_path, AT_A_SECOND_V1) if kind == "process" else resolve(server)
    found = run(HELLO, target).verdict.findings
    (message,) = (f.message for f in found if f.code == "run.nothing_intercepted")
    assert message.startswith("the agent asked for /v1/v1/messages, which this run does not serve")
    assert "leave /v1 out of the base URL" in message


def test_the_environment_is_scrubbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a secret of the developer")
    monkeypatch.setenv("NODE_OPTIONS", "--enable-source-maps")
    monkeypatch.delenv("NODE_PATH", raising=False)
    result = run(HELLO, program(tmp_path, programs.TELL_ENVIRONMENT))
    texts = [
        e.request.text
        for e in result.history.events
        if isinstance(e, Called) and e.seam == "outbox" and hasattr(e.request, "text")
    ]
    named = set(texts[0].split())
    assert "ANTHROPIC_AUTH_TOKEN" not in named
    assert named >= {
        "NODE_OPTIONS",
        "ANTHROPIC_BASE_URL",
        "HARNESS_INBOX_URL",
        "HARNESS_SESSION_DIR",
    }
    assert named - {"LC_CTYPE"} <= {
        *("PATH", "LANG", "HOME", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"),
        *("OPENAI_API_KEY", "HARNESS_INBOX_URL", "HARNESS_OUTBOX_URL", "HARNESS_TOOLS_URL"),
        *("NODE_OPTIONS", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        *("HARNESS_MCP_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"),
        *("HARNESS_CANCELLED_URL", "HARNESS_APPROVALS_URL", "HARNESS_LIMITS"),
        *("HARNESS_SESSION_DIR", "HARNESS_OPTIONS", "HARNESS_SEED", "HARNESS_WIRE"),
        "ANTITHESIS_SDK_LOCAL_OUTPUT",
    }


def test_a_program_cannot_be_simulated(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--world supervise"):
        run(HELLO, program(tmp_path, programs.GREET), world="simulate")


def test_an_agent_of_this_process_in_real_time() -> None:
    from tests.runner import agents

    for agent in (agents.greet, agents.never_calls):
        result = run(HELLO, agent, world="supervise")
        started = result.history.events[0]
        assert isinstance(started, Started)
        assert (started.world, started.door) == ("supervise", "loopback")
    assert "run.nothing_intercepted" in _codes(result)


class _Server(BaseHTTPRequestHandler):
    """A target that is a server: it runs the agent and ends with its status."""

    status, body = 200, programs.GREET

    def do_POST(self) -> None:
        brief = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
        namespace: dict[str, Any] = {"__name__": "served"}
        body = (programs.PRELUDE + self.body).replace("os.environ", "BRIEF")
        exec(compile(f"BRIEF = {brief!r}\n{body}", "served", "exec"), namespace)
        self.send_response(self.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    served = HTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}/run"
    served.shutdown()
    served.server_close()


def test_a_server_is_given_the_run_by_post(server: str) -> None:
    result = run(HELLO, resolve(server))
    assert _codes(result) == []
    assert _ended(result).how == "returned"


def test_nothing_listens_there() -> None:
    with pytest.raises(InputError, match="no server answers"):
        run(HELLO, resolve("http://127.0.0.1:9/run"))


def _kill(moment: Moment, plan: Plan) -> Plan:
    return (Kill(),)


def test_a_program_that_is_killed_starts_again_on_its_session(tmp_path: Path) -> None:
    killed_once = ArmedFault(FaultSpec(kind="test.kill", when=1), _kill, "bytes")
    script = TurnScript(HELLO.script if isinstance(HELLO.script, tuple) else (), Draws(0))
    transition = Transition(
        HELLO, providers.by_name("anthropic"), script, History(), faults=[killed_once]
    )
    body = "open(os.path.join(os.environ['HARNESS_SESSION_DIR'], 'starts'), 'a').write('x')\n"
    folder = tmp_path / "session"
    folder.mkdir()
    supervise(transition, program(tmp_path, body + "print(ask('hello'))"), folder, "")
    history = transition.history
    assert (folder / "starts").read_text() == "xx"
    attempts = [e.attempt for e in history.events if isinstance(e, Started)]
    assert attempts == [0, 1]
    assert [e.at for e in history.events if isinstance(e, Killed)] == ["main/model#1"]


def test_the_scratch_folder_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    run(HELLO, program(tmp_path, programs.GREET))
    assert list(scratch.iterdir()) == []
