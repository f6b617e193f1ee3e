"""Projects of many kinds as texts, each with the agent that is found in it."""

from __future__ import annotations

from pathlib import Path

LOOP = """\
import anthropic

client = anthropic.Anthropic()


def run_tool(name: str) -> str:
    return "12 degrees"


def chat(prompt: str) -> str:
    messages = [{"role": "user", "content": prompt}]
    while True:
        reply = client.messages.create(model="m", max_tokens=99, messages=messages)
        if reply.stop_reason != "tool_use":
            return reply.content[0].text


if __name__ == "__main__":
    print(chat(input("> ")))
"""

OPENAI = """\
from openai import OpenAI

client = OpenAI()


def ask(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    out = client.chat.completions.create(model="m", messages=messages)
    return out.choices[0].message.content
"""

PYDANTIC = """\
from pydantic_ai import Agent as Made

agent = Made("openai:gpt-5", instructions="Be brief.")


@agent.tool_plain
def weather(city: str) -> str:
    return "mild"
"""

AGENTS = """\
from agents import Agent, Runner

triage: Agent = Agent(name="triage", instructions="Help.")


async def main() -> None:
    print(await Runner.run(triage, "Hello"))
"""

LANGCHAIN = """\
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic


def build():
    return create_agent(ChatAnthropic(model="claude-sonnet-5"), [])
"""

LANGGRAPH = """\
from langgraph.graph import StateGraph

builder = StateGraph(dict)
graph = builder.compile()
"""

METHOD = """\
import anthropic


class Assistant:
    def __init__(self, model: str = "m"):
        self.client = anthropic.AsyncAnthropic()

    async def reply(self, text: str) -> str:
        return (await self.client.messages.create(max_tokens=9)).content[0].text


class Needy:
    def __init__(self, client):
        self.client = client

    def reply(self, text: str) -> str:
        return self.client.messages.create(text)
"""

COMMAND = """\
import argparse

import anthropic


def main():
    words = argparse.ArgumentParser().parse_args()
    print(anthropic.Anthropic().messages.create(words))


if __name__ == "__main__":
    main()
"""

NODE = """\
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic();

export async function answer(text) {
  const reply = await client.messages.create({ model: "m", messages: [] });
  return reply.content[0].text;
}
"""

COMMON = """\
const OpenAI = require("openai");

async function reply(message) {
  return (await new OpenAI().chat.completions.create({})).choices[0].message.content;
}

module.exports = { reply };
"""

BRIEF = """\
def agent(brief):
    for message in brief.inbox():
        brief.send("Hello")
"""

PROJECT = '[project]\nname = "x"\ndependencies = [\n  "pydantic-ai-slim[openai]>=1",\n]\n'

FETCH = """
export async function answer(text) {
  const asked = { method: "POST", body: JSON.stringify({ model: "gpt-5", messages: [text] }) };
  const reply = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, asked);
  return (await reply.json()).choices[0].message.content;
}
"""

FASTAPI = """\
from fastapi import APIRouter
from pydantic import BaseModel

from bot.llm import client

router = APIRouter(prefix="/v1")


class Asked(BaseModel):
    message: str
    session_id: str = ""


@router.post("/chat")
async def chat(asked: Asked):
    made = await client.chat.completions.create(messages=[asked.message])
    return {"answer": made.choices[0].message.content}


@router.post("/feedback")
async def feedback(asked: dict):
    return {}
"""

SERVER = {
    "src/bot/llm.py": "from openai import AsyncOpenAI\n\nclient = AsyncOpenAI()\n",
    "src/bot/routes.py": FASTAPI,
    "src/bot/main.py": "from fastapi import FastAPI\n\nfrom bot import routes\n\napp = FastAPI()\n"
    'app.include_router(routes.router, prefix="/api")\n',
}

FLASK = """\
from anthropic import Anthropic
from flask import Flask, request

web = Flask(__name__)


@web.route("/ask", methods=["POST"])
def ask():
    question = request.get_json()["question"]
    return Anthropic().messages.create(messages=[question]).content[0].text
"""

EXPRESS = """\
import Anthropic from "@anthropic-ai/sdk";
import express from "express";

const app = express();
app.post("/login", (req, res) => res.json({ user: req.body.user }));
app.post("/chat", async (req, res) => {
  const { message, sessionId } = req.body;
  const made = await new Anthropic().messages.create({ messages: [message] });
  res.json({ reply: made.content[0].text });
});
app.listen(8080);
"""

USE_CHAT = """\
import { convertToModelMessages, generateText, type UIMessage } from "ai";
import { openai } from "@ai-sdk/openai";
import express from "express";

const app = express();
app.post("/api/chat", async (req, res) => {
  const { messages }: { messages: UIMessage[] } = req.body;
  const asked = { model: openai("gpt-5"), messages: convertToModelMessages(messages) };
  res.json({ text: (await generateText(asked)).text });
});
app.listen(process.env.PORT);
"""

WHOLE = """\
from anthropic import Anthropic
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Talk(BaseModel):
    messages: list[dict]


@app.post("/chat")
def chat(talk: Talk):
    made = Anthropic().messages.create(model="m", max_tokens=99, messages=talk.messages)
    return {"reply": made.content[0].text}
"""

NODE_SERVER = (Path(__file__).parents[1] / "cli/programs_of_init/helpdesk_server.js").read_text()

NODE_CLASS = """\
import { openai } from "@ai-sdk/openai";
import { generateText } from "ai";

export class Bot {
  constructor(private options: Options = {}) {}

  private log(text: string) {}

  async reply(text: string): Promise<string> {
    return (await generateText({ model: openai("gpt-5"), prompt: text })).text;
  }
}

export class Needy {
  constructor(private client: Client) {}

  async reply(text: string): Promise<string> {
    return text;
  }
}
"""

FOUND: dict[str, tuple[dict[str, str], str, str, str]] = {
    "a loop": ({"bot.py": LOOP}, "bot:chat", "chat", "anthropic"),
    "a global client": ({"main.py": OPENAI}, "main:ask", "chat", "openai-chat"),
    "the newer API": (
        {"main.py": OPENAI.replace("chat.completions.create", "responses.create")},
        "main:ask", "chat", "openai-responses",
    ),
    "pydantic-ai": ({"bot.py": PYDANTIC, "pyproject.toml": PROJECT}, "bot:agent", "object", ""),
    "openai-agents": ({"team/app.py": AGENTS}, "team.app:triage", "object", "openai-responses"),
    "LangChain": ({"app.py": LANGCHAIN}, "app:build", "object", "anthropic"),
    "LangGraph": ({"app.py": LANGGRAPH}, "app:graph", "object", ""),
    "a method": ({"src/shop/bot.py": METHOD}, "shop.bot:Assistant.reply", "method", "anthropic"),
    "a command": ({"tool.py": COMMAND}, "tool.py", "command", "anthropic"),
    "Node": ({"src/agent.js": NODE}, "src/agent.js:answer", "module", "anthropic"),
    "Node without an SDK": (
        {"bot.mjs": FETCH, "package.json": '{"name": "bot"}'},
        "bot.mjs:answer", "module", "openai-chat",
    ),
    "CommonJS": ({"index.js": COMMON}, "index.js:reply", "module", "openai-chat"),
    "our protocol": ({"mine.py": BRIEF, "bot.py": LOOP}, "mine:agent", "brief", ""),
    "Node of our protocol": (
        {"a.mjs": "await fetch(process.env.HARNESS_INBOX_URL)"}, "a.mjs", "brief", "",
    ),
    "a client in another module": (
        {
            "app/llm.py": "import anthropic\nclient = anthropic.Anthropic()\n",
            "app/__init__.py": "",
            "app/chat.py": "from .llm import client\n\ndef respond(message):\n"
            "    return client.messages.create(message)\n",
        },
        "app.chat:respond", "chat", "",
    ),
    "FastAPI": (SERVER, "bot.routes:chat", "endpoint", ""),
    "a server of Node itself": (
        {"server.mjs": NODE_SERVER}, "server.mjs:/chat", "endpoint", "anthropic",
    ),
    "Flask": ({"web.py": FLASK}, "web:ask", "endpoint", "anthropic"),
    "Express": (
        {"web.js": EXPRESS, "package.json": '{"scripts": {"start": "node web.js"}}'},
        "web.js:/chat", "endpoint", "anthropic",
    ),
    "FastAPI with the conversation": ({"web.py": WHOLE}, "web:chat", "endpoint", "anthropic"),
    "Express for useChat": (
        {"web.ts": USE_CHAT, "package.json": '{"scripts": {"start": "tsx web.ts"}}'},
        "web.ts:/api/chat", "endpoint", "openai-responses",
    ),
    "a class of Node": (
        {"src/bot.ts": NODE_CLASS, "package.json": '{"devDependencies": {"tsx": "^4"}}'},
        "src/bot.ts:Bot.reply", "module", "openai-responses",
    ),
    "a client of Node in another module": (
        {
            "lib/llm.ts": 'import OpenAI from "openai";\nexport const client = new OpenAI();\n',
            "lib/bot.mjs": 'import { client } from "./llm.js";\n\n'
            "export async function ask(prompt) {\n"
            "  return client.chat.completions.create(prompt);\n}\n",
        },
        "lib/bot.mjs:ask", "module", "openai-chat",
    ),
    "an example beside it": (
        {"bot.py": LOOP, "examples/bot.py": LOOP.replace("chat", "answer")},
        "bot:chat", "chat", "anthropic",
    ),
    "a test beside it": (
        {"bot.py": LOOP, "tests/test_bot.py": OPENAI, "test_x.py": OPENAI},
        "bot:chat", "chat", "anthropic",
    ),
    "a broken file beside it": (
        {"bot.py": LOOP, "bad.py": "def (", "deep.py": "(" * 5000, "zero.py": "x\0"},
        "bot:chat", "chat", "anthropic",
    ),
}  # fmt: skip
"""Files, and the specification, the kind and the wire of the agent that is found."""
