"""The HTTP library that an installed SDK rides on: httpx2, or httpx before anthropic 1 or openai 3.

Tests that hand an SDK a client or catch its transport's errors take the library from here, so that
they run with either generation.
"""

from __future__ import annotations

import importlib
from typing import Any

import anthropic
import openai
import pytest


def library_of(client: type) -> Any:
    """The library whose client the SDK's own `DefaultHttpxClient` extends."""
    (name,) = {base.__module__.partition(".")[0] for base in client.__mro__} & {"httpx", "httpx2"}
    return importlib.import_module(name)


http = library_of(anthropic.DefaultHttpxClient)
openai_http = library_of(openai.DefaultHttpxClient)

IS_OLDER = int(anthropic.__version__.partition(".")[0]) < 2

since_2 = pytest.mark.skipif(
    IS_OLDER,
    reason=f"threads and error codes came with anthropic 2; here is {anthropic.__version__}",
)
