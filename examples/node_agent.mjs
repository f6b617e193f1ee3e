// An agent in another language, for `process:node examples/node_agent.mjs`.
//
// Plain Node (18 or later), no packages. The program knows nothing of the harness beyond the URLs
// in its environment: it takes messages from an inbox, asks a model, runs tools, sends a reply.
//
//   process:node examples/node_agent.mjs                  naive: does what breaks in production
//   process:node examples/node_agent.mjs?careful=true     careful: the one to copy from
//   ...&stream=true                                       read the model's reply as a stream
//   ...&messages=webhook                                  have the messages posted, and answer in order
//
// Read node_agent/careful.mjs for the loop, then the modules that it puts together.

import { inbox } from "./node_agent/seams.mjs";
import { readOptions } from "./node_agent/options.mjs";
import { webhook } from "./node_agent/webhook.mjs";

process.on("SIGTERM", () => process.exit(0)); // all that matters is on disk already

const wire = process.env.HARNESS_WIRE ?? "anthropic";
if (wire !== "anthropic") {
  console.error(`node_agent speaks the anthropic wire only, the scenario asks for ${wire}`);
  process.exit(2);
}

const options = readOptions(process.env.HARNESS_OPTIONS);
const { answer } = await import(`./node_agent/${options.careful ? "careful" : "naive"}.mjs`);
const messages = { ask: inbox, webhook }[options.messages];
for await (const inbound of messages()) {
  await answer(inbound, options);
}
