"""Files as values: scenarios, overlays and recordings, errors with file and line.

`yaml_text` reads YAML by its 1.2 core schema (`no`, `on` and `12:30` are strings) and remembers
lines. `scenario_file` merges variants and decodes strictly; `mistakes` puts errors into words.
`scenario_text` writes scenario files. Nothing in a file can run code.
"""

from harness.files.scenario_file import find_scenarios as find_scenarios
from harness.files.scenario_file import load_scenarios as load_scenarios
