"""Files as values: scenarios, overlays and recordings, errors with file and line.

YAML follows the 1.2 core schema (`no`, `on` and `12:30` are strings). No file can run code.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.files.scenario_file import find_scenarios as find_scenarios
    from harness.files.scenario_file import load_scenarios as load_scenarios
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
