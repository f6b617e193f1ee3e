"""A small agent that speaks ACP, for the tests of the client: one file, the standard library alone.

It keeps its sessions in its HOME. The words of its command switch on what an agent may do
otherwise: `dies` (ends at the second prompt), `no-load`, `no-http` (tools over standard streams),
`resumes`, `says MODE` (a stop reason), `shows-no-input` (a question has another id).
With `input-apart` a question has an empty input and another title.
`tells-late`: a load tells the past after its answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

HOME = Path(os.environ["HOME"])
WORDS = sys.argv[1:]


def calls_of(content: list[Any]) -> list[Any]:
    return [block for block in content if block["type"] == "tool_use"]


def result_of(call: Any, text: str) -> Any:
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text}


class Agent:
    """The sessions, and the client that it talks with."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, Any]] = {}
        self.cancelled: set[str] = set()
        self.answers: dict[int, Any] = {}
        self.news, self.number, self.prompts = threading.Condition(), 0, 0

    def write(self, **message: Any) -> None:
        with self.news:
            print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    def ask(self, method: str, params: Any) -> Any:
        with self.news:
            self.number += 1
            number = self.number
        self.write(id=number, method=method, params=params)
        with self.news:
            self.news.wait_for(lambda: number in self.answers)
            return self.answers[number]

    def told(self, session: str, **update: Any) -> None:
        self.write(method="session/update", params={"sessionId": session, "update": update})

    def take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            with self.news:
                self.answers[message["id"]] = message.get("result")
                self.news.notify_all()
        elif message["method"] == "session/cancel":
            self.cancelled.add(message["params"]["sessionId"])
        else:
            threading.Thread(target=self.answer, args=(message,)).start()

    def answer(self, message: dict[str, Any]) -> None:
        name = message["method"].replace("session/", "")
        try:
            self.write(id=message["id"], result=getattr(self, name)(message["params"]))
        except RuntimeError as error:
            self.write(id=message["id"], error={"code": -32603, "message": str(error)})

    def initialize(self, params: Any) -> Any:
        assert params["protocolVersion"] == 1
        assert self.ask("fs/read_text_file", {"path": "/etc/hosts"}) is None, "nothing is offered"
        more = {"sessionCapabilities": {"resume": {}}} if "resumes" in WORDS else {}
        http = {"mcpCapabilities": {"http": "no-http" not in WORDS}}
        can = {"loadSession": "no-load" not in WORDS, **http, **more}
        return {"protocolVersion": 1, "agentCapabilities": can}

    def new(self, params: Any) -> Any:
        name = f"s{len(list(HOME.glob('*.json')))}"
        self.opened(name, params, [])
        return {"sessionId": name}

    def load(self, params: Any) -> Any:
        messages = json.loads((HOME / f"{params['sessionId']}.json").read_text())
        wait_s = 0.1 if "tells-late" in WORDS else 0.0
        telling = threading.Timer(wait_s, self.tell_again, (params["sessionId"], [*messages]))
        telling.start()
        if not wait_s:
            telling.join()
        self.opened(params["sessionId"], params, messages)
        return None

    def tell_again(self, name: str, messages: list[Any]) -> None:
        for each in messages:
            for block in each["content"] if each["role"] == "assistant" else ():
                if block["type"] == "text":
                    self.told(name, sessionUpdate="agent_message_chunk", content=block)

    def resume(self, params: Any) -> Any:
        messages = json.loads((HOME / f"{params['sessionId']}.json").read_text())
        self.opened(params["sessionId"], params, messages)
        return {}

    def opened(self, name: str, params: Any, messages: list[Any]) -> None:
        (server,) = params["mcpServers"]
        last = messages[-1] if messages else {"role": "user"}
        if last["role"] == "assistant" and (calls := calls_of(last["content"])):
            text = "interrupted: nobody knows whether it ran"
            messages.append({"role": "user", "content": [result_of(call, text) for call in calls]})
        session = {"server": server, "messages": messages, "tools": []}
        self.sessions[name] = session
        self.save(name)

        def listed() -> None:  # after the session is open, as agents do
            found = self.mcp(session, "tools/list", {})["tools"]
            session["tools"] += [
                {
                    "name": f"mcp__harness__{tool['name']}",
                    "description": "",
                    "input_schema": tool["inputSchema"],
                }
                for tool in found
            ]

        session["listing"] = threading.Thread(target=listed)
        session["listing"].start()

    def save(self, name: str) -> None:
        (HOME / f"{name}.json").write_text(json.dumps(self.sessions[name]["messages"]))

    def mcp(self, session: Any, method: str, params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        if "command" in session["server"]:
            return self.over_streams(session, body)
        accept = "application/json, text/event-stream"
        kinds = {"content-type": "application/json", "accept": accept}
        url = session["server"]["url"]
        request = urllib.request.Request(url, json.dumps(body).encode(), kinds)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())["result"]

    def over_streams(self, session: Any, body: Any) -> Any:
        server = session["server"]
        if "process" not in session:
            env = {**os.environ, **{each["name"]: each["value"] for each in server["env"]}}
            command = [server["command"], *server["args"]]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            session["process"] = subprocess.Popen(command, env=env, text=True, **pipes)
            who = {"protocolVersion": "2025-06-18", "capabilities": {},
                   "clientInfo": {"name": "small", "version": "1"}}  # fmt: skip
            self.over_streams(session, {**body, "method": "initialize", "params": who})
            self.line(session, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.line(session, body)
        return json.loads(session["process"].stdout.readline())["result"]

    def line(self, session: Any, body: Any) -> None:
        session["process"].stdin.write(json.dumps(body) + "\n")
        session["process"].stdin.flush()

    def prompt(self, params: Any) -> Any:
        name, text = params["sessionId"], params["prompt"][0]["text"]
        self.prompts += 1
        if "dies" in WORDS and self.prompts == 2:
            sys.stderr.write("out of luck\n")
            os._exit(7)
        self.cancelled.discard(name)
        session = self.sessions[name]
        session["listing"].join()
        session["messages"].append({"role": "user", "content": text})
        while True:
            if name in self.cancelled:
                return {"stopReason": "cancelled"}
            content = self.model(session)
            session["messages"].append({"role": "assistant", "content": content})
            self.save(name)
            for block in content:
                if block["type"] == "text":
                    self.told(name, sessionUpdate="agent_message_chunk", content=block)
            calls = calls_of(content)
            if not calls:
                return {
                    "stopReason": WORDS[WORDS.index("says") + 1] if "says" in WORDS else "end_turn"
                }
            results = [self.result(name, session, call) for call in calls]
            session["messages"].append({"role": "user", "content": results})
            self.save(name)

    def result(self, name: str, session: Any, call: Any) -> Any:
        seen = {
            "toolCallId": call["id"],
            "title": f"{call['name']} (harness)",
            "rawInput": call["input"],
        }
        self.told(name, sessionUpdate="tool_call", **seen)
        kinds = ("allow_once", "allow_always", "reject_once")
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
        shown = (
            seen if "shows-no-input" not in WORDS else {"toolCallId": "1", "title": seen["title"]}
        )
        if "input-apart" in WORDS:
            shown = {"toolCallId": call["id"], "title": '{"to": "order"}', "rawInput": {}}
        chosen = self.ask(
            "session/request_permission", {"sessionId": name, "toolCall": shown, "options": options}
        )["outcome"]
        if not chosen.get("optionId", "").startswith("allow"):
            text = "not run: denied by the user"
        else:
            given = {
                "name": call["name"].removeprefix("mcp__harness__"),
                "arguments": call["input"],
            }
            done = self.mcp(session, "tools/call", {**given, "_meta": {"toolUseId": call["id"]}})
            text = "".join(block["text"] for block in done["content"])
        return result_of(call, text)

    def model(self, session: Any) -> Any:
        body = {"model": "m", "max_tokens": 64, "messages": session["messages"]}
        body |= {"tools": session["tools"]} if session["tools"] else {}
        headers = {
            "content-type": "application/json",
            "x-api-key": "k",
            "anthropic-version": "2023-06-01",
        }
        url = f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read())["content"]
        except OSError as error:
            session["messages"].pop()
            raise RuntimeError(f"the model failed: {error}") from None


if __name__ == "__main__":
    agent = Agent()
    print("small agent 1.0")
    for line in sys.stdin:
        agent.take(json.loads(line))
