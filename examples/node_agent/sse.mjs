// Server-sent events, by hand: text in any pieces -> events -> one message of the Messages API.
//
// A stream says the same whether it comes in one piece or byte by byte, with LF, CRLF or CR. Only
// `message_stop` says that the reply is whole: a connection that merely closes has cut it off.

/** Thrown when a stream ends early or cannot be read; nothing of it may be used. */
export class BrokenStream extends Error {}

/** Thrown on an `error` event: the provider failed after it had answered with status 200. */
export class StreamError extends Error {
  constructor(error) {
    super(error?.message ?? "error event without a message");
    this.type = error?.type ?? "api_error";
  }
}

/** Cuts text into lines; a CR at the end of a piece waits, for it may be half of a CRLF. */
export class LineSplitter {
  #rest = "";

  feed(text) {
    this.#rest += text;
    const lines = [];
    for (let match; (match = /\r\n|\n|\r(?!$)/.exec(this.#rest)); ) {
      lines.push(this.#rest.slice(0, match.index));
      this.#rest = this.#rest.slice(match.index + match[0].length);
    }
    return lines;
  }

  end() {
    const last = this.#rest.replace(/\r$/, "");
    this.#rest = "";
    return last === "" ? [""] : [last, ""]; // the blank line ends an event that nobody ended
  }
}

async function* linesOf(chunks) {
  const decoder = new TextDecoder("utf-8", { fatal: true }); // keeps characters cut by a chunk
  const splitter = new LineSplitter();
  for await (const chunk of chunks) yield* splitter.feed(decoder.decode(chunk, { stream: true }));
  yield* splitter.feed(decoder.decode());
  yield* splitter.end();
}

/** Yields the parsed `data` of each event. Comments and other fields are of no use to us. */
export async function* eventsOf(chunks) {
  let data = [];
  for await (const line of linesOf(chunks)) {
    if (line === "" && data.length > 0) {
      yield JSON.parse(data.join("\n"));
      data = [];
    } else if (line.startsWith("data:")) {
      data.push(line.slice(line[5] === " " ? 6 : 5));
    }
  }
}

const DELTAS = {
  text_delta: (block, delta) => (block.text += delta.text),
  thinking_delta: (block, delta) => (block.thinking += delta.thinking),
  signature_delta: (block, delta) => (block.signature = delta.signature),
  input_json_delta: (block, delta) => (block.partialJson += delta.partial_json),
};

const EVENTS = {
  message_start: (state, event) => (state.message = { ...event.message, content: [] }),
  content_block_start: (state, event) =>
    (state.message.content[event.index] = { ...event.content_block, partialJson: "" }),
  content_block_delta: (state, event) =>
    DELTAS[event.delta.type]?.(state.message.content[event.index], event.delta),
  message_delta: (state, { delta, usage }) =>
    Object.assign(state.message, delta, usage && { usage: { ...state.message.usage, ...usage } }),
  message_stop: (state) => (state.complete = true),
  error: (_, event) => {
    throw new StreamError(event.error);
  },
};

/** The pieces of a tool's input are JSON only when joined; unreadable input becomes `undefined`. */
function closeBlock({ partialJson, ...block }) {
  if (block.type !== "tool_use" || partialJson === "") return block;
  try {
    return { ...block, input: JSON.parse(partialJson) };
  } catch {
    return { ...block, input: undefined };
  }
}

/** Reads a whole stream into the message that the same call would give without streaming. */
export async function readMessage(chunks) {
  const state = { message: null, complete: false };
  try {
    for await (const event of eventsOf(chunks)) EVENTS[event.type]?.(state, event);
  } catch (error) {
    if (error instanceof StreamError) throw error;
    throw new BrokenStream(`the stream cannot be read: ${error.message}`);
  }
  if (!state.complete || !state.message) throw new BrokenStream("the stream ended early");
  return { ...state.message, content: state.message.content.map(closeBlock) };
}
