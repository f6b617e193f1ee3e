"""`fake_model` in suites of web applications: Starlette's TestClient, which is FastAPI's, and
asynchronous tests under anyio. The client of the model is made at import, as such services do."""

from __future__ import annotations

import pytest

from harness.providers.anthropic import provider
from harness.runner import fake_model

LOADED = (provider, fake_model)
"""Loaded before a pytest within this one, which takes away the modules that it has loaded."""

APP = """
import anthropic

CLIENT = anthropic.AsyncAnthropic()

async def answer(text):
    reply = await CLIENT.messages.create(
        model="claude-sonnet-5", max_tokens=9, messages=[{"role": "user", "content": text}])
    return reply.content[0].text
"""

WEB = """
import app, pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

async def chat(request):
    return PlainTextResponse(await app.answer(request.query_params["q"]))

WEB = Starlette(routes=[Route("/chat", chat)])

@pytest.mark.parametrize("number", range(3))
def test_a_request(fake_model, number):
    with fake_model.says(f"{number}").serve(), TestClient(WEB) as client:
        assert client.get("/chat?q=x").text == f"{number}"
"""

TASKS = """
import anyio, app, pytest

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.parametrize("number", range(2))
async def test_several_at_once(fake_model, number):
    names = ["Oslo", "Rome", "Bern"]
    for name in names:
        fake_model.when(name).says(f"{name} {number}")
    heard = {}

    async def ask(name):
        heard[name] = await app.answer(name)

    with fake_model.serve():
        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(ask, name)
    assert heard == {name: f"{name} {number}" for name in names}
"""


@pytest.mark.parametrize(("tests", "passed"), [(WEB, 3), (TASKS, 2)], ids=["web", "tasks"])
def test_a_client_made_at_import_finds_each_model(
    pytester: pytest.Pytester, tests: str, passed: int
) -> None:
    if tests is WEB:
        pytest.importorskip("starlette.testclient")
    pytester.makepyfile(app=APP)
    pytester.makepyfile(test_app=tests)
    pytester.makeini("[pytest]\nharness_fake_model = true")
    made = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    made.assert_outcomes(passed=passed)
