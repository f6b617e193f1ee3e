// The places where the agent touches the world, apart from the model: inbox, outbox, tools.

import { fromWire } from "./blocks.mjs";

const TOOL_TIMEOUT_MS = 60_000;
const DELIVERY_ATTEMPTS = 3;

function url(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start this agent through the harness`);
  return value;
}

function postJson(address, value, extra = {}) {
  const headers = { "content-type": "application/json" };
  return fetch(address, { method: "POST", headers, body: JSON.stringify(value), ...extra });
}

/** Yields `{id, session, kind, text, at_ms}` until the inbox says that there is no more. */
export async function* inbox() {
  for (;;) {
    const response = await fetch(url("HARNESS_INBOX_URL"));
    if (response.status === 204) return;
    if (response.status === 200) yield await response.json();
    else if (response.status !== 202) throw new Error(`inbox answered ${response.status}`);
    else await response.arrayBuffer(); // nothing yet: free the connection and ask again
  }
}

/**
 * Sends one reply; true when the outbox took it. A refused or lost delivery is repeated with the
 * same bytes: the reader can tell a repeated text from a new one, but cannot invent a lost one.
 */
export async function deliver(reply) {
  for (let attempt = 0; attempt < DELIVERY_ATTEMPTS; attempt += 1) {
    try {
      const response = await postJson(url("HARNESS_OUTBOX_URL"), reply);
      if (response.ok) return true;
    } catch (error) {
      console.error(`outbox: ${error.message}`);
    }
  }
  return false;
}

/** The tools on offer: `[{name, description, input_schema}]`. */
export async function listTools() {
  const response = await fetch(url("HARNESS_TOOLS_URL"));
  if (!response.ok) throw new Error(`the tool list answered ${response.status}`);
  return response.json();
}

/**
 * Runs one call; always gives `{content, is_error}`. A failure on the way is told to the model as
 * an error, with what is known of the outcome: after a reset the tool may have run all the same.
 */
export async function callTool({ id, name, input }) {
  const failed = (content) => ({ content, is_error: true });
  const address = `${url("HARNESS_TOOLS_URL")}/${encodeURIComponent(name)}`;
  try {
    const signal = AbortSignal.timeout(TOOL_TIMEOUT_MS);
    const response = await postJson(address, { id, input }, { signal });
    if (!response.ok) return failed(`the tool ${name} failed with HTTP status ${response.status}`);
    const { content, is_error: isError } = await response.json();
    const stored = Array.isArray(content) ? content.map(fromWire) : content;
    return { content: stored ?? "", is_error: Boolean(isError) };
  } catch {
    return failed(`the tool ${name} gave no readable answer; it may or may not have run`);
  }
}
