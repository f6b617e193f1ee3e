"""The Vercel AI SDK: does it refuse its own messages after a cut call? 1: yes, 0: no.

The folder of its packages is the working folder, or $AI_SDK; $NODE is Node 22 or later, for ai 7:

    npm install ai @ai-sdk/anthropic
"""

import os
import subprocess
import sys
from pathlib import Path

from bare_server import BareServer, call, say

FOLDER = Path(os.environ.get("AI_SDK", "."))
PROGRAM = """
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
const model = createAnthropic({ apiKey: 'dummy', baseURL: process.env.URL + '/v1' })('fake');
const properties = { to: { type: 'string' }, amount: { type: 'integer' } };
const inputSchema = jsonSchema({ type: 'object', properties, required: ['to', 'amount'] });
const tools = { transfer: tool({ inputSchema, execute: async () => 'transferred' }) };
const messages = [];
for (const content of ['Transfer 1500 to Ada.', 'Are you there?', 'Hello?']) {
  messages.push({ role: 'user', content });
  try {
    const stopWhen = stepCountIs(20);
    const made = await generateText({ model, tools, messages, stopWhen, maxRetries: 0 });
    messages.push(...(made.responseMessages ?? made.response.messages));
    console.log(`${content} -> ${JSON.stringify(made.text)}, ${made.finishReason}`);
  } catch (error) {
    console.log(`${content} -> ${error.name}: ${error.message}`);
  }
}
"""
if not (FOLDER / "node_modules" / "ai").is_dir():
    print("not installed: ai (npm install ai @ai-sdk/anthropic)")
    sys.exit(2)
answers = [call("transfer", {"to": "Ada", "amount": 15}, stop="max_tokens"), say("I am here.")]
with BareServer(answers) as server:
    made = subprocess.run(
        [os.environ.get("NODE", "node"), "--input-type=module", "--eval", PROGRAM],
        cwd=FOLDER, env={"PATH": os.environ["PATH"], "HOME": str(FOLDER), "URL": server.url},
        capture_output=True, text=True,
    )  # fmt: skip
print(made.stdout.strip() or made.stderr.strip())
print(f"requests that the model got: {len(server.bodies)}")
sys.exit(1 if made.stdout.count("AI_MissingToolResultsError") == 2 else 0)
