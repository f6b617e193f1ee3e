"""loop-harness: replay and fault-injection tests for LLM agent loops.

The names of this module are the public API, together with those of `harness.faults`,
`harness.checks`, `harness.recordings`, `harness.stores`, `harness.strategies`, `harness.contracts`,
`harness.agent` and `harness.adapters`. A name is imported from its module at its first use, so
`import harness` is cheap. Type checkers see all names.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.checks.evidence.declarations import needs as needs
    from harness.checks.judge import judge as judge
    from harness.clock.sequencer import Sequencer as Sequencer
    from harness.core.history.history import History as History
    from harness.core.history.past import Past as Past
    from harness.core.scenario.scenario import ApprovalTurn as ApprovalTurn
    from harness.core.scenario.scenario import FaultSpec as FaultSpec
    from harness.core.scenario.scenario import InboxItem as InboxItem
    from harness.core.scenario.scenario import Limits as Limits
    from harness.core.scenario.scenario import Scenario as Scenario
    from harness.core.scenario.scenario import SeedMessage as SeedMessage
    from harness.core.scenario.scenario import Session as Session
    from harness.core.scenario.scenario import ToolScript as ToolScript
    from harness.core.scenario.scenario import ToolTurn as ToolTurn
    from harness.core.scenario.scenario import Turn as Turn
    from harness.core.transition.ports import Miss as Miss
    from harness.core.values.brief import Brief as Brief
    from harness.core.values.brief import Tool as Tool
    from harness.core.values.brief import ToolError as ToolError
    from harness.core.values.calls import Call as Call
    from harness.core.values.calls import Inbound as Inbound
    from harness.core.values.errors import HarnessError as HarnessError
    from harness.core.values.errors import InputError as InputError
    from harness.core.values.messages import Message as Message
    from harness.core.values.messages import Opaque as Opaque
    from harness.core.values.messages import Text as Text
    from harness.core.values.messages import Thinking as Thinking
    from harness.core.values.messages import ToolResult as ToolResult
    from harness.core.values.messages import ToolSpec as ToolSpec
    from harness.core.values.messages import ToolUse as ToolUse
    from harness.core.values.messages import assistant as assistant
    from harness.core.values.messages import results as results
    from harness.core.values.messages import user as user
    from harness.core.values.plans import ApiError as ApiError
    from harness.core.values.plans import Reply as Reply
    from harness.core.values.verdict import Finding as Finding
    from harness.core.values.verdict import Verdict as Verdict
    from harness.files import find_scenarios as find_scenarios
    from harness.files import load_scenarios as load_scenarios
    from harness.files.scenario_values import Fault as Fault
    from harness.files.scenario_values import Use as Use
    from harness.plugins import load_plugins as load_plugins
    from harness.runner.fake_model import FakeModel as FakeModel
    from harness.runner.fake_model import FakeRequest as FakeRequest
    from harness.runner.fake_model import NotAsScripted as NotAsScripted
    from harness.runner.run import Run as Run
    from harness.runner.run import run as run
    from harness.targets.marks import always as always
    from harness.targets.marks import highest as highest
    from harness.targets.marks import reachable as reachable
    from harness.targets.marks import sometimes as sometimes
    from harness.targets.marks import unreachable as unreachable
    from harness.targets.spec import resolve as resolve
    from harness.verdicts.event_lines import event_lines as event_lines
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
