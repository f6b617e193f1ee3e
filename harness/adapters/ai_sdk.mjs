// The Vercel AI SDK (tried with ai 6.0.326 and 7.0.173) as a program under test. Copy this file beside yours:
//
//   import { play } from './ai_sdk.mjs';          // before the providers, which read their URL once
//   import { anthropic } from '@ai-sdk/anthropic';
//   await play((tools) => ({ model: anthropic('claude-sonnet-5'), tools, stopWhen: stepCountIs(20) }));
//
//   harness run scenarios --wire anthropic --target "process:node my_agent.mjs"
//
// `tools` are those of the scenario. The settings are those of generateText; with the option `stream`
// streamText gets them. The SDK has no store: the model messages of a session are a file of the run's
// folder, written before each step that follows results of tools, and at the end of a turn.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { generateText, jsonSchema, streamText, tool } from 'ai';

const { env } = process;
// The SDK's URL ends with the version, that of the official client does not.
if (env.ANTHROPIC_BASE_URL && !env.ANTHROPIC_BASE_URL.endsWith('/v1')) env.ANTHROPIC_BASE_URL += '/v1';

/** The options of the target, and the API that the run speaks. */
export const options = JSON.parse(env.HARNESS_OPTIONS || '{}');
export const wire = env.HARNESS_WIRE;

/** A call of the harness that gives no answer for so long is lost. */
const LOST_MS = 40_000;

function post(url, value) {
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(LOST_MS);
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(value), signal });
}

/** The conversation of a session, which outlives a kill. */
class Chat {
  constructor(session) {
    this.session = session;
    this.file = `${env.HARNESS_SESSION_DIR}/messages-${encodeURIComponent(session)}.json`;
    const seed = `${env.HARNESS_SESSION_DIR}/seed.jsonl`;
    if (existsSync(this.file)) this.messages = JSON.parse(readFileSync(this.file, 'utf8'));
    else this.messages = session === 'main' && existsSync(seed) ? past(readFileSync(seed, 'utf8')) : [];
  }

  keep(messages) {
    this.messages = messages;
    writeFileSync(`${this.file}.new`, JSON.stringify(messages));
    renameSync(`${this.file}.new`, this.file); // whole or not at all: a kill may come meanwhile
  }

  /** The questions to the user that no message answers. */
  questions() {
    const parts = this.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const of = (type) => parts.filter((part) => part.type === type);
    const answered = new Set(of('tool-approval-response').map((part) => part.approvalId));
    return of('tool-approval-request').filter((part) => !answered.has(part.approvalId)).map((part) => (
      { ...part, call: of('tool-call').find((call) => call.toolCallId === part.toolCallId) }));
  }
}

/** The messages of a seed as those of the SDK. Thoughts are left out: their signatures are of the model that made them. */
function past(text) {
  const names = {};
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line)).flatMap(({ role, blocks }) => {
    const results = [], said = [];
    for (const { type, id, name, input, text, value, ...block } of blocks) {
      if (type === 'text') said.push({ type, text });
      if (type === 'opaque') said.push({ type: 'image', image: value.source.data, mediaType: value.source.media_type });
      if (type === 'tool_use') {
        names[id] = name;
        said.push({ type: 'tool-call', toolCallId: id, toolName: name, input });
      }
      if (type !== 'tool_result') continue;
      const told = [block.content ?? ''].flat().map((part) => part.text ?? part).join('\n');
      const output = { type: block.is_error ? 'error-text' : 'text', value: told };
      results.push({ type: 'tool-result', toolCallId: id, toolName: names[id] ?? '', output });
    }
    return [{ role: 'tool', content: results }, { role, content: said }].filter(({ content }) => content.length);
  });
}

function offered({ name, description, input_schema: schema, needs_approval: needsApproval }) {
  const execute = async (input, { toolCallId: id, abortSignal }) => {
    // A schema of Zod and an MCP server take an object alone; the model reads why.
    if (Object.prototype.toString.call(input) !== '[object Object]') throw new Error('the input of the tool is not a JSON object');
    if (abortSignal?.aborted) throw new Error('Not run: the user has cancelled the turn.');
    const answer = await (await post(`${env.HARNESS_TOOLS_URL}/${name}`, { id, input })).json();
    if (answer.error || answer.is_error) throw new Error(answer.error ?? answer.content);
    return answer.content;
  };
  return [name, tool({ description, inputSchema: jsonSchema(schema), execute, needsApproval })];
}

/** Abort at the moment at which the user cancels the turn, until the turn has ended. */
async function watch(session, turn, ended) {
  const url = `${env.HARNESS_CANCELLED_URL}?wait=true&session=${encodeURIComponent(session)}`;
  while (!ended.signal.aborted) {
    const got = await fetch(url, { signal: ended.signal }).then((said) => said.json(), () => ({}));
    if (got.cancelled) return turn.abort();
  }
}

async function streamed(settings) {
  const failures = [];
  const running = streamText({ ...settings, onError: ({ error }) => failures.push(error) });
  await running.consumeStream();
  if (failures.length) throw failures[0];
  return { text: await running.text, end: await running.finishReason, said: await messagesOf(running) };
}

async function whole(settings) {
  const made = await generateText(settings);
  return { text: made.text, end: made.finishReason, said: await messagesOf(made) };
}

/** The messages of all steps; since ai 7 `response` is of the last step alone. */
async function messagesOf(made) {
  return (await made.responseMessages) ?? (await made.response).messages;
}

/** A call of the SDK with what the chat holds and `more`: its text, and the SDK's word for how it ended. */
async function called(chat, settings, more) {
  const prepareStep = (step) => {
    const { messages } = step;
    if (messages.at(-1)?.role === 'tool') chat.keep(messages);
    return settings.prepareStep?.(step);
  };
  const messages = [...chat.messages, ...more];
  const given = { ...settings, messages, prepareStep };
  const { text, end, said } = await (options.stream ? streamed(given) : whole(given));
  // An answer of nothing that ended badly leaves no question behind it.
  const isEmpty = !said.flatMap(({ content }) => content).some((part) => part.text || part.toolCallId);
  if (end === 'stop' || !isEmpty) chat.keep([...messages, ...said]);
  return { text, end };
}

/** The user's answers to the questions of the chat. The SDK takes a yes or a no with a reason. */
async function answers(chat) {
  const content = [];
  for (const { approvalId, call: { toolName, toolCallId: id, input } } of chat.questions()) {
    const given = { tool: toolName, id, input, session: chat.session };
    const said = await post(env.HARNESS_APPROVALS_URL, given).then((got) => got.json()).catch(() => ({}));
    const isSame = JSON.stringify(said.input) === JSON.stringify(input);
    const approved = said.answer === 'allow' && said.id === id && isSame;
    const other = said.answer === 'allow' && !isSame ? `Only with the input ${JSON.stringify(said.input)}` : '';
    const reason = said.reason || other || (approved ? undefined : 'The user has not answered.');
    content.push({ type: 'tool-approval-response', approvalId, approved, reason });
  }
  return content.length ? [{ role: 'tool', content }] : [];
}

/** The last of the calls of the SDK, once none waits for the user. */
async function run(chat, settings, given) {
  const made = await called(chat, settings, given);
  const more = await answers(chat);
  return more.length ? run(chat, settings, more) : made;
}

/** The last call for a message. What a kill has left goes on first, and is the turn of a message that comes again. */
async function turn(chat, settings, { text, attempt }) {
  const more = await answers(chat);
  const goesOn = attempt > 1 && (more.length > 0 || chat.messages.at(-1)?.role === 'tool');
  const made = (more.length || goesOn) && (await run(chat, settings, more));
  return goesOn ? made : run(chat, settings, [{ role: 'user', content: text }]);
}

async function answer(settings, message) {
  const { id, session } = message;
  const where = { session, in_reply_to: id };
  const cancel = new AbortController(), ended = new AbortController();
  const chat = new Chat(session);
  watch(session, cancel, ended);
  let said;
  try {
    const { text, end } = await turn(chat, { ...settings, abortSignal: cancel.signal }, message);
    said = end === 'stop' ? { text, kind: 'final' } : { text: `${text} (not finished: ${end})`, kind: 'error' };
  } catch (error) {
    said = { text: `Sorry: ${error.message}`, kind: 'error' };
  }
  ended.abort();
  // A last answer may come as the cancel does.
  const now = await (await fetch(`${env.HARNESS_CANCELLED_URL}?session=${encodeURIComponent(session)}`)).json();
  if (cancel.signal.aborted || now.cancelled) said = { text: 'Cancelled.', status: 'cancelled' };
  await post(env.HARNESS_OUTBOX_URL, { ...said, ...where });
}

/** Play the messages of the run. `settingsOf(tools)` gives the settings of generateText. */
export async function play(settingsOf) {
  const listed = await (await fetch(env.HARNESS_TOOLS_URL)).json();
  const settings = await settingsOf(Object.fromEntries(listed.map(offered)));
  for (;;) {
    const got = await fetch(env.HARNESS_INBOX_URL);
    if (got.status === 204) return;
    if (got.status !== 200) continue;
    const message = await got.json();
    if (message.kind === 'message') await answer(settings, message);
  }
}
