// The Anthropic Messages API: one request out, one reply or one `ModelError` in.
//
// Errors are sorted here, by their shape and never by the text of an answer: what to do about them
// (wait, shrink, give up) is decided by the callers. No request is repeated in this file.

import { blocksOfContent } from "./blocks.mjs";
import { encode } from "./encode.mjs";
import { BrokenStream, StreamError, readMessage } from "./sse.mjs";

const REQUEST_TIMEOUT_MS = 120_000;
const OVERFLOW = new RegExp(
  "prompt is too long|request too large|maximum context length|context_length_exceeded|" +
    "input tokens exceed|input is too long|content length exceeds|exceed context limit",
  "i",
);
const TRANSIENT = /^(overloaded|api|rate_limit|timeout)_error$/;

/** Why there is no reply. `overflow`: too long; `attempts`: how often it may be tried in all. */
export class ModelError extends Error {
  constructor(message, facts = {}) {
    super(message);
    Object.assign(this, { status: 0, type: "", overflow: false, attempts: 1 }, facts);
  }
}

const ATTEMPTS = { transient: 3, cut: 2, never: 1 };

/** Seconds to wait that the server asked for (a number or a date), or undefined. */
export function retryAfterOf(headers, nowMs = Date.now()) {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = Number.isNaN(Number(text)) ? (Date.parse(text) - nowMs) / 1000 : Number(text);
  return seconds > 0 ? seconds : undefined; // also undefined for what is no number
}

async function errorOfResponse(response) {
  const { status, headers } = response;
  const text = await response.text().catch(() => "");
  let error = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    // A proxy in front of the API answers in HTML or not at all; the status says enough.
  }
  const message = error.message ?? `HTTP status ${status}`;
  const overflow = status === 413 || (status === 400 && OVERFLOW.test(message));
  const transient = (status === 429 || status >= 500) && headers.get("x-should-retry") !== "false";
  const attempts = transient ? ATTEMPTS.transient : ATTEMPTS.never;
  const retryAfterS = retryAfterOf(headers);
  return new ModelError(message, { status, type: error.type, overflow, attempts, retryAfterS });
}

function errorOfStream(error) {
  const { message } = error;
  if (error instanceof BrokenStream) return new ModelError(message, { attempts: ATTEMPTS.cut });
  if (!(error instanceof StreamError)) return error;
  const attempts = TRANSIENT.test(error.type) ? ATTEMPTS.transient : ATTEMPTS.never;
  const overflow = error.type === "request_too_large" || OVERFLOW.test(message);
  return new ModelError(message, { status: 200, type: error.type, overflow, attempts });
}

async function readReply(response, stream) {
  if (stream) return readMessage(response.body);
  const message = await response.json().catch(() => null);
  if (!Array.isArray(message?.content)) throw new BrokenStream("the reply is not a message");
  return message;
}

/** A wrapper's own message in place of an answer: no model, or no token at all, and an error. */
function refuseSynthetic({ model, usage, content }) {
  const text = content.map((block) => block.text ?? "").join("").trim();
  const isUncounted = usage?.input_tokens === 0 && usage?.output_tokens === 0;
  const overflow = OVERFLOW.test(text);
  if (model === "<synthetic>" || (isUncounted && text.search(OVERFLOW) === 0)) {
    throw new ModelError(text, { status: 200, overflow });
  }
}

function send(body, purpose) {
  const headers = {
    "content-type": "application/json",
    "x-api-key": process.env.ANTHROPIC_API_KEY ?? "",
    "anthropic-version": "2023-06-01",
  };
  if (purpose !== "main") headers["x-harness-purpose"] = purpose;
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const address = `${process.env.ANTHROPIC_BASE_URL}/v1/messages`;
  return fetch(address, { method: "POST", headers, body: encode(body), signal });
}

/** Posts one request: `{blocks, stop, unreadable}`, the last as ids of calls not to be run. */
export async function postMessages(body, purpose = "main") {
  const response = await send(body, purpose).catch((cause) => {
    throw new ModelError(`no connection: ${cause.message}`, { attempts: ATTEMPTS.transient });
  });
  if (!response.ok) throw await errorOfResponse(response);
  let message;
  try {
    message = await readReply(response, body.stream);
  } catch (error) {
    throw errorOfStream(error);
  }
  refuseSynthetic(message);
  if (message.stop_reason === "model_context_window_exceeded") {
    // The reply is cut off and would be again: the same thing as a prompt that is too long.
    throw new ModelError("the context window is full", { status: 200, overflow: true });
  }
  return { ...blocksOfContent(message.content), stop: message.stop_reason };
}

/** The body of a request. Without tools the key is left out: then the model can only talk. */
export function requestBody({ model, maxTokens, stream }, messages, tools = []) {
  const body = { model, max_tokens: maxTokens, messages };
  if (stream) body.stream = true;
  if (tools.length > 0) body.tools = tools;
  return body;
}
