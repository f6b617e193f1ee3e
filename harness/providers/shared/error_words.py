"""What a provider answers for each cause of an error: status, type, code and text, as a table.

A cause is neutral: `overloaded_error` is a 529 of Anthropic's and a 503 elsewhere. Faults, scripts
and limits name causes. What they state besides (a text, a code, a status) stays as it is.
"""

from __future__ import annotations

from functools import cached_property

import msgspec

from harness.core.values.plans import ApiError
from harness.core.values.table_file import table


class ErrorWords(msgspec.Struct, frozen=True):
    """How a provider says one cause. `asked` is the status that the cause is known by everywhere.

    With `never` the provider sends no such status at all, and answers `status` in its place.
    """

    cause: str
    asked: int
    status: int
    type: str
    known: str
    text: str
    never: bool = False
    code: str = ""
    param: str = ""
    source: str = ""


class ErrorTable:
    """The errors of one provider. `places` are packages and files; later rows replace earlier ones.

    `error` is the class of errors that name a parameter, for the rows that do.
    """

    def __init__(self, *places: tuple[str, str], error: type[ApiError] = ApiError) -> None:
        self._places, self._error = places, error

    @cached_property
    def rows(self) -> dict[str, ErrorWords]:
        """The rows by their cause."""
        read = (table(package, name, ErrorWords) for package, name in self._places)
        return {cause: row for rows in read for cause, row in rows.items()}

    @cached_property
    def _never(self) -> dict[int, int]:
        return {row.asked: row.status for row in self.rows.values() if row.never}

    def own(self, error: ApiError) -> ApiError:
        """An error in the provider's words; one that has them already is returned unchanged.

        A status of 0 is the one that goes with the cause. A status that the provider never sends
        becomes the one that it sends for the same cause.
        """
        row, status = self.rows.get(error.type), self._never.get(error.status, error.status)
        if row is None:
            return (
                error if status == error.status else msgspec.structs.replace(error, status=status)
            )
        said = {
            "status": status or row.status,
            "type": row.type,
            "message": error.message or row.text,
            "code": error.code or row.code,
        }
        if row.param and type(error) is ApiError:
            return self._error(**said, headers=error.headers, param=row.param)  # type: ignore[call-arg, arg-type]
        return msgspec.structs.replace(error, **said)
