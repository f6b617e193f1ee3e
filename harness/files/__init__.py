"""Files become values here: scenario files, with the line of every mistake.

Only this room knows YAML. `yaml_text` turns text into plain values by the YAML 1.2 core schema
(`no`, `on` and `12:30` are strings) and remembers lines; `scenario_file` merges variants and
decodes strictly; nothing in a file can run code.
"""

from harness.files.scenario_file import find_scenarios, load_scenarios

__all__ = ["find_scenarios", "load_scenarios"]
