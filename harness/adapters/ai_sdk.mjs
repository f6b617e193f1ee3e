// The Vercel AI SDK (tried with ai 6.0.326 and 7.0.173) as a program under test. Copy this file beside yours:
//
//   import { play } from './ai_sdk.mjs';          // before the providers, which read their URL once
//   import { anthropic } from '@ai-sdk/anthropic';
//   await play((tools) => ({ model: anthropic('claude-sonnet-5'), tools, stopWhen: stepCountIs(20) }));
//
//   harness run scenarios --wire anthropic --target "process:node my_agent.mjs"
//
// `tools` are those of the scenario. The settings are those of generateText; with the option `stream`
// streamText gets them. A conversation is a list in memory; a failed turn leaves none.
import { generateText, jsonSchema, streamText, tool } from 'ai';

const { env } = process;
// The SDK's URL ends with the version, that of the official client does not.
if (env.ANTHROPIC_BASE_URL && !env.ANTHROPIC_BASE_URL.endsWith('/v1')) env.ANTHROPIC_BASE_URL += '/v1';

/** The options of the target, and the API that the run speaks. */
export const options = JSON.parse(env.HARNESS_OPTIONS || '{}');
export const wire = env.HARNESS_WIRE;

function post(url, value) {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(value) });
}

function offered({ name, description, input_schema: schema }) {
  const execute = async (input, { toolCallId: id }) => {
    const answer = await (await post(`${env.HARNESS_TOOLS_URL}/${name}`, { id, input })).json();
    if (answer.error || answer.is_error) throw new Error(answer.error ?? answer.content);
    return answer.content;
  };
  return [name, tool({ description, inputSchema: jsonSchema(schema), execute })];
}

async function streamed(settings) {
  const failures = [];
  const running = streamText({ ...settings, onError: ({ error }) => failures.push(error) });
  await running.consumeStream();
  if (failures.length) throw failures[0];
  return { text: await running.text, said: await messagesOf(running) };
}

async function whole(settings) {
  const made = await generateText(settings);
  return { text: made.text, said: await messagesOf(made) };
}

/** The messages of all steps; since ai 7 `response` is of the last step alone. */
async function messagesOf(made) {
  return (await made.responseMessages) ?? (await made.response).messages;
}

async function answer(settings, histories, { id, session, text: words }) {
  const history = histories.get(session) ?? [];
  const asked = { role: 'user', content: words };
  const where = { session, in_reply_to: id };
  try {
    const given = { ...settings, messages: [...history, asked] };
    const { text, said } = await (options.stream ? streamed(given) : whole(given));
    histories.set(session, [...history, asked, ...said]);
    await post(env.HARNESS_OUTBOX_URL, { text, kind: 'final', ...where });
  } catch (error) {
    await post(env.HARNESS_OUTBOX_URL, { text: `Sorry: ${error.message}`, kind: 'error', ...where });
  }
}

/** Play the messages of the run. `settingsOf(tools)` gives the settings of generateText. */
export async function play(settingsOf) {
  const listed = await (await fetch(env.HARNESS_TOOLS_URL)).json();
  const settings = await settingsOf(Object.fromEntries(listed.map(offered)));
  const histories = new Map();
  for (;;) {
    const got = await fetch(env.HARNESS_INBOX_URL);
    if (got.status === 204) return;
    if (got.status !== 200) continue;
    const message = await got.json();
    if (message.kind === 'message') await answer(settings, histories, message);
  }
}
