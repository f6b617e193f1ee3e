"""The HTTP library that the installed anthropic SDK rides on: httpx2, or httpx before version 1.

Tests that hand the SDK a client or catch its transport's errors take the library from here, so that
they run with either generation.
"""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

if issubclass(anthropic.DefaultHttpxClient, __import__("httpx").Client):
    import httpx as library
else:
    import httpx2 as library  # type: ignore[no-redef]

http: Any = library

IS_OLDER = int(anthropic.__version__.partition(".")[0]) < 2

since_2 = pytest.mark.skipif(
    IS_OLDER,
    reason=f"threads and error codes came with anthropic 2; here is {anthropic.__version__}",
)
