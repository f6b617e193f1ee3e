"""Reports: what a command came to, in a medium. A public module.

A plug-in brings a report too. A public function of `results, command` writes a document at
the end of any command: it yields its lines.

    def slack(results, command):
        failed = sum(result.word == "fail" for result in results)
        yield f"{command.verb}: {failed} of {len(results)} failed"

`harness run ... --report my_parts.slack=message.txt` writes it to a file, without `=FILE` it is all
of standard output. A function of one `event`, or a class that is made without arguments and called
with each `event`, writes lines as the results come. The events are `CommandStarted`, `Result`,
`FileRead` of recordings, and `CommandFinished`; skip what you do not know.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.report_parts import REPORTS as REPORTS
    from harness.report.report_parts import Document as Document
    from harness.report.report_parts import ReportPart as ReportPart
    from harness.report.report_parts import parts_of as parts_of
    from harness.report.report_parts import report_named as report_named
    from harness.verdicts.command_events import CommandFinished as CommandFinished
    from harness.verdicts.command_events import CommandStarted as CommandStarted
    from harness.verdicts.command_events import Event as Event
    from harness.verdicts.command_events import FileRead as FileRead
    from harness.verdicts.result import Result as Result
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
