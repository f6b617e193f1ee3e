// A chat endpoint without any package: POST /chat {text} is answered by {reply}.
import http from "node:http";

const BASE = process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com";

async function answer(text) {
  const messages = [{ role: "user", content: text }];
  const response = await fetch(`${BASE}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-sonnet-5", max_tokens: 500, messages }),
  });
  if (!response.ok) return null;
  const said = await response.json();
  return said.content.map((block) => block.text ?? "").join("");
}

http.createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  if (request.method === "POST" && request.url === "/chat") {
    const reply = await answer(JSON.parse(body).text);
    response.statusCode = reply === null ? 502 : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(reply === null ? { error: "no answer" } : { reply }));
  } else {
    response.statusCode = 404;
    response.end();
  }
}).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
