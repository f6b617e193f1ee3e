"""Recordings of other programs, read as values that the checks understand. A public module.

A format is a function that takes the bytes of a file, or its lines, and returns a `Recording`:

    from harness import InputError, Message, Text
    from harness.recordings import Recording, Transcript

    def talk_log(document: bytes) -> Recording | None:
        '''Logs of the talk agent.'''
        if not document.startswith(b"TALK 1\\n"):
            return None
        texts = document.decode("utf-8", "replace").splitlines()[1:]
        if not texts:
            raise InputError("the log is empty", "line 2")
        said = zip(("user", "assistant") * len(texts), texts)
        messages = tuple(Message(role, (Text(text),)) for role, text in said)
        return Recording((Transcript(name="talk", messages=messages),))

- The name of the first parameter marks a plug-in's function. `document` is the bytes of the whole
  file. `lines` is an iterable of lines, each with its line feed, of a file of any size. `tables`
  are the tables of a SQLite database.
- It returns None for a file of another format. For a file of this format that it cannot read it
  raises `InputError` with a reason and a place.
- `@recognised_by(test)` adds a test of bytes: the function is called only where the test says yes.
- The first line of the docstring is the title in `harness list formats`.

`read` gives the recording that bytes hold. `to_history` turns a transcript into a history, so that
one set of checks judges live runs and recordings alike. Nothing here opens a file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.recordings.recognition import format_named as format_named
    from harness.recordings.recognition import format_of as format_of
    from harness.recordings.recognition import formats as formats
    from harness.recordings.recognition import read as read
    from harness.recordings.recording_format import Format as Format
    from harness.recordings.recording_format import format_from as format_from
    from harness.recordings.recording_format import parts_of as parts_of
    from harness.recordings.recording_format import recognised_by as recognised_by
    from harness.recordings.session_log import Notes as Notes
    from harness.recordings.session_log import entries as entries
    from harness.recordings.tables import Tables as Tables
    from harness.recordings.transcript_counts import counts as counts
    from harness.recordings.transcript_history import to_history as to_history
    from harness.recordings.transcripts import Recording as Recording
    from harness.recordings.transcripts import Refusal as Refusal
    from harness.recordings.transcripts import Transcript as Transcript
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
