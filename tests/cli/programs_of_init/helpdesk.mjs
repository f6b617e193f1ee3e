// A function from text to text, as a project without any SDK exports it.
const BASE = process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com";

export async function helpdesk(text) {
  const response = await fetch(`${BASE}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-sonnet-5",
      max_tokens: 500,
      messages: [{ role: "user", content: text }],
    }),
  });
  const said = await response.json();
  if (!response.ok) throw new Error(`the model refused: ${response.status}`);
  return said.content.map((block) => block.text ?? "").join("");
}
