"""A run in the forms that other programs read: builders from a history to bytes.

`FORMATS` names them for the command. A builder is imported when its format is asked for, so that
the shell's completion loads none. Nothing here does IO: the verb `export` writes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.report.exports.exported_run import ExportedRun

FORMATS = {
    "otlp": "OpenTelemetry spans of generative AI, in OTLP/JSON",
    "inspect": "a log of Inspect AI; a FILE.eval is its archive",
    "mermaid": "a sequence diagram for a pull request",
    "svg": "a card with the verdict and the steps",
}
"""The formats, and what each is."""

OF_ONE_RUN = frozenset({"mermaid", "svg"})
"""The formats that show one run; the others take any number."""


def export(runs: Sequence[ExportedRun], form: str, *, archive: bool = False) -> bytes:
    """Return the document of runs in a form, without secrets; `archive`: packed, if it can be."""
    match form:
        case "otlp":
            from harness.report.exports.otlp_spans import otlp

            return otlp(runs)
        case "inspect":
            from harness.report.exports.inspect_log import inspect_archive, inspect_log

            return inspect_archive(runs) if archive else inspect_log(runs)
        case "mermaid":
            from harness.report.exports.sequence_diagram import sequence_diagram

            return sequence_diagram(runs[0])
    from harness.report.exports.run_card import run_card

    return run_card(runs[0])
