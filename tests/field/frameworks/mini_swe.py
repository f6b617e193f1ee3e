"""mini-swe-agent: its default agent on LiteLLM. Its one tool is `bash`; mount its model."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("MSWEA_COST_TRACKING", "ignore_errors")
os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

from harness import ToolError
from harness.adapters import answer_of

_MODELS = {"anthropic": "anthropic/claude-sonnet-4-5", "openai-chat": "openai/gpt-5"}


def _shell(bash: Any) -> LocalEnvironment:
    class Shell(LocalEnvironment):
        def execute(
            self, action: Any, cwd: str = "", *, timeout: int | None = None
        ) -> dict[str, Any]:
            given, id = {"command": action["command"]}, action["tool_call_id"]
            try:
                text, code = answer_of(bash, given, id), 0
            except ToolError as error:
                text, code = str(error), 1
            output = {"output": text, "returncode": code, "exception_info": ""}
            self._check_finished(output)
            return output

    return Shell()


def agent(brief: Any) -> None:
    """Each message is a separate task, as the framework has it."""
    (bash,) = [tool for tool in brief.tools if tool.name == "bash"]
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        model = LitellmModel(model_name=_MODELS[brief.wire], model_kwargs={"api_key": "x"})
        bot = DefaultAgent(
            model,
            _shell(bash),
            system_template="You are helpful.",
            instance_template="{{task}}",
        )
        try:
            ended = bot.run(message.text)
        except Exception as error:  # LiteLLM raises errors of many libraries
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        status = ended.get("exit_status")
        kind = "final" if status == "Submitted" else "error"
        brief.send(ended.get("submission") or str(status), kind=kind, **where)
