// The AI SDK with its defaults and twenty steps.
import { play, wire } from './adapter.mjs';
import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
import { stepCountIs } from 'ai';

const models = {
  anthropic: () => anthropic('claude-sonnet-4-5'),
  'openai-chat': () => openai.chat('gpt-5'),
  'openai-responses': () => openai.responses('gpt-5'),
};

await play((tools) => ({ model: models[wire](), tools, stopWhen: stepCountIs(20) }));
