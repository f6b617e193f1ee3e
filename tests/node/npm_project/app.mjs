// An application whose client is made at import, as most are.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic();

export async function answer(text, ask = client) {
  const messages = [{ role: "user", content: text }];
  const tools = [{ name: "book", input_schema: { type: "object" } }];
  for (;;) {
    const reply = await ask.messages.create({ model: "claude-sonnet-5", max_tokens: 999, messages, tools });
    const calls = reply.content.filter((block) => block.type === "tool_use");
    if (!calls.length) return reply.content.at(-1).text;
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "ok" }));
    messages.push({ role: "assistant", content: reply.content }, { role: "user", content: results });
  }
}
