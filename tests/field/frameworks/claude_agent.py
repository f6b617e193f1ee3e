"""The Claude Agent SDK with its defaults: sessions are its own files, in the run's folder."""

from __future__ import annotations

from claude_agent_sdk import ClaudeAgentOptions

from harness.adapters import claude_agent

connected = claude_agent(ClaudeAgentOptions(system_prompt="You are helpful."))
