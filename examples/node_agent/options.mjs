// The options of a run. They may arrive as strings, because a SPEC such as `?careful=true` has no
// types; a mistyped value is an error, for an option that is silently off tests the wrong agent.

const SWITCH = { true: true, false: false };

function readSwitch(given, name) {
  const value = SWITCH[String(given[name] ?? false)];
  if (value === undefined) throw new Error(`option ${name}: true or false, not ${given[name]}`);
  return value;
}

const CHANNELS = new Set(["ask", "webhook"]);

function readDoor({ messages = "ask" }) {
  if (!CHANNELS.has(messages)) throw new Error(`option messages: ask or webhook, not ${messages}`);
  return messages;
}

/** `{careful, messages, stream, model, maxTokens}` from the JSON text of HARNESS_OPTIONS. */
export function readOptions(text) {
  const given = JSON.parse(text || "{}") ?? {};
  return {
    careful: readSwitch(given, "careful"),
    messages: readDoor(given),
    stream: readSwitch(given, "stream"),
    model: given.model ?? "claude-sonnet-5",
    maxTokens: Number(given.max_tokens ?? 1024),
  };
}
