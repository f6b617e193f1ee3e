// The AI SDK as a program: generateText or streamText, with its defaults and twenty steps.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const { env } = process;
const options = JSON.parse(env.HARNESS_OPTIONS || '{}');

function pickModel() {
  if (env.HARNESS_WIRE === 'anthropic') {
    return createAnthropic({ baseURL: `${env.ANTHROPIC_BASE_URL}/v1` })('claude-sonnet-4-5');
  }
  const openai = createOpenAI();
  return env.HARNESS_WIRE === 'openai-responses' ? openai.responses('gpt-5') : openai.chat('gpt-5');
}

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
  return { text: await running.text, response: await running.response };
}

const listed = await (await fetch(env.HARNESS_TOOLS_URL)).json();
const common = { model: pickModel(), tools: Object.fromEntries(listed.map(offered)), stopWhen: stepCountIs(20) };
const histories = new Map();

async function answer({ id, session, text: words }) {
  const history = histories.get(session) ?? [];
  const asked = { role: 'user', content: words };
  const where = { session, in_reply_to: id };
  try {
    const settings = { ...common, messages: [...history, asked] };
    const { text, response } = await (options.stream ? streamed(settings) : generateText(settings));
    histories.set(session, [...history, asked, ...response.messages]);
    await post(env.HARNESS_OUTBOX_URL, { text, kind: 'final', ...where });
  } catch (error) {
    await post(env.HARNESS_OUTBOX_URL, { text: `Sorry: ${error.message}`, kind: 'error', ...where });
  }
}

for (;;) {
  const got = await fetch(env.HARNESS_INBOX_URL);
  if (got.status === 204) break;
  if (got.status !== 200) continue;
  const message = await got.json();
  if (message.kind === 'message') await answer(message);
}
