"""ZIP archives in memory: their members, unpacked one at a time within one bound.

Members are stored, deflated, or compressed with zstd, which needs the package `zstandard`. Other
methods are refused, because the standard library unpacks them without a bound.
"""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from harness.core.values.errors import InputError, PackageMissing
from harness.recordings.session_log import MAX_KEPT_BYTES

MAGIC = b"PK\x03\x04"
"""How every archive with a member begins."""

_ZSTD = 93
"""The number of the compression method in the ZIP format; older `zipfile` modules refuse it."""

_LOCAL_HEADER_BYTES = 30
"""The fixed part of the header before a member. Its last two numbers are the lengths of the name
and of the extra field, which follow."""
_TORN = (BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError, OSError)


class ZipArchive:
    """The members of an archive; all that is read of it together is bounded."""

    def __init__(self, document: bytes) -> None:
        """Raises InputError for bytes that are not a whole archive."""
        self._document, self._left_bytes = document, MAX_KEPT_BYTES
        try:
            self._zip = ZipFile(BytesIO(document))
        except (*_TORN, struct.error) as error:
            raise InputError("no whole ZIP archive", "line 1", more=str(error)) from None

    def names(self) -> list[str]:
        """The names of the members, in the order of the archive."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        """The bytes of a member; raises InputError for one that cannot be unpacked.

        Raises PackageMissing where that needs a package.
        """
        info = self._zip.getinfo(name)
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED, _ZSTD):
            raise InputError(f"compressed by method {info.compress_type}, which is not read", name)
        most = self._left_bytes + 1
        if info.file_size >= most:  # no reader gives more of a member than its header declares
            raise _too_large(name)
        try:
            data = (
                self._zstd(info, most) if info.compress_type == _ZSTD else self._plain(info, most)
            )
        except _TORN:
            raise InputError("torn", name) from None
        if len(data) == most:
            raise _too_large(name)
        self._left_bytes -= len(data)
        return data

    def _plain(self, info: ZipInfo, most: int) -> bytes:
        with self._zip.open(info) as member:
            return member.read(most)

    def _zstd(self, info: ZipInfo, most: int) -> bytes:
        try:
            import zstandard
        except ImportError:
            user = "a member compressed with zstd"
            raise PackageMissing("zstandard", "zstd", user, info.filename) from None
        at = info.header_offset
        lengths = struct.unpack("<HH", self._document[at + 26 : at + _LOCAL_HEADER_BYTES].ljust(4))
        begin = at + _LOCAL_HEADER_BYTES + sum(lengths)
        raw = self._document[begin : begin + info.compress_size]
        try:
            reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
            # The library allocates at once all that it is asked for.
            data = bytes(reader.read(min(most, info.file_size + 1)))
        except zstandard.ZstdError as error:
            raise BadZipFile(str(error)) from None
        if len(data) < most and zlib.crc32(data) != info.CRC:
            raise BadZipFile("another checksum")
        return data


def _too_large(name: str) -> InputError:
    return InputError(f"more than {MAX_KEPT_BYTES // 1024**2} MB when unpacked", name)
