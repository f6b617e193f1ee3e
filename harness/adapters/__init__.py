"""Public: agents of other frameworks as targets.

`--target my_app:agent` and `play` take an object of a framework as it is. Use a function of this
module where the framework needs more than the object:

    target = harness.adapters.pydantic_ai(my_agent, deps=Deps(...))
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.adapters.adk_runner import google_adk as google_adk
    from harness.adapters.agno_database import agno as agno
    from harness.adapters.claude_sessions import claude_agent as claude_agent
    from harness.adapters.framework_session import agent_framework as agent_framework
    from harness.adapters.function_memory import llama_index as llama_index
    from harness.adapters.graph_thread import langgraph as langgraph
    from harness.adapters.message_runner import tool_runner as tool_runner
    from harness.adapters.openai_runner import openai_agents as openai_agents
    from harness.adapters.pydantic_agent import pydantic_ai as pydantic_ai
    from harness.adapters.shared.framework_agent import FrameworkAgent as FrameworkAgent
    from harness.adapters.shared.framework_agent import answer_of as answer_of
    from harness.adapters.strands_session import strands as strands
    from harness.adapters.text_answers import is_of_an_api as is_of_an_api
    from harness.adapters.text_answers import text_function as text_function
    from harness.adapters.tool_calling_agent import smolagents as smolagents
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
