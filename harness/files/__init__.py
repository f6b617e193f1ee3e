"""Files as values: scenarios, overlays and recordings, errors with file and line.

YAML follows the 1.2 core schema (`no`, `on` and `12:30` are strings). No file can run code.
"""

from harness.files.scenario_file import find_scenarios as find_scenarios
from harness.files.scenario_file import load_scenarios as load_scenarios
