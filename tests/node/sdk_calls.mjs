// Asks a model by the SDKs of npm, plain and streamed; the URLs stand in the environment.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const messages = [{ role: "user", content: "hi" }];
const asked = { model: "m", messages, max_tokens: 9 };

async function joined(stream, textOf) {
  let text = "";
  for await (const event of stream) text += textOf(event) ?? "";
  return text;
}

const calls = {
  anthropic: async () => (await new Anthropic().messages.create(asked)).content[0].text,
  "anthropic+stream": async () =>
    joined(await new Anthropic().messages.create({ ...asked, stream: true }), (event) => event.delta?.text),
  "openai-chat": async () =>
    (await new OpenAI().chat.completions.create({ model: "m", messages })).choices[0].message.content,
  "openai-chat+stream": async () =>
    joined(
      await new OpenAI().chat.completions.create({ model: "m", messages, stream: true }),
      (chunk) => chunk.choices[0]?.delta?.content,
    ),
  "openai-responses": async () =>
    (await new OpenAI().responses.create({ model: "m", input: "hi" })).output_text,
  "openai-responses+stream": async () =>
    joined(
      await new OpenAI().responses.create({ model: "m", input: "hi", stream: true }),
      (event) => (event.type === "response.output_text.delta" ? event.delta : ""),
    ),
};

console.log(await calls[process.argv[2]]());
