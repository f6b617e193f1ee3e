// Two spellings of the same blocks: as stored (free of any wire) and as the Messages API has them.
//
// A block that we do not know is kept whole as `opaque`, so that sending it back says the same.

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const TO_WIRE = {
  text: ({ text }) => ({ type: "text", text }),
  thinking: ({ text = "", signature = "", redacted }) =>
    redacted
      ? { type: "redacted_thinking", data: redacted }
      : { type: "thinking", thinking: text, signature },
  tool_use: ({ id, name, input }) => ({ type: "tool_use", id, name, input: input ?? {} }),
  tool_result: ({ id, content = "", is_error: isError = false }) => ({
    type: "tool_result",
    tool_use_id: id,
    content: Array.isArray(content) ? content.map(toWire) : content,
    is_error: isError,
  }),
  opaque: ({ value }) => value,
};

/** A stored block as the API wants it. */
export function toWire(block) {
  return TO_WIRE[block.type](block);
}

const FROM_WIRE = {
  text: ({ text }) => ({ type: "text", text }),
  thinking: ({ thinking, signature }) => ({ type: "thinking", text: thinking, signature }),
  redacted_thinking: ({ data }) => ({ type: "thinking", redacted: data }),
  tool_use: ({ id, name, input }) => ({
    type: "tool_use",
    id,
    name,
    input: isObject(input) ? input : {},
  }),
};

/** A block of the wire, from the model or from a tool, as it is stored. */
export function fromWire(block) {
  const convert = FROM_WIRE[block.type];
  return convert ? convert(block) : { type: "opaque", kind: block.type, value: block };
}

/** `{blocks, unreadable}`: a call without a readable object as input must never be executed. */
export function blocksOfContent(content) {
  const calls = content.filter((block) => block.type === "tool_use");
  const unreadable = new Set(calls.filter(({ input }) => !isObject(input)).map(({ id }) => id));
  return { blocks: content.map(fromWire), unreadable };
}

export const textBlock = (text) => ({ type: "text", text });

export const textOf = (blocks) =>
  blocks.filter(({ type }) => type === "text").map(({ text }) => text).join("\n");

export const callsOf = (blocks) => blocks.filter(({ type }) => type === "tool_use");

export const isResult = ({ type }) => type === "tool_result";
