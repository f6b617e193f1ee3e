import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { HarnessError, NotAsScripted, fakeModel } from "loop-harness";
import { answer } from "./app.mjs";

test("books a table, with a client that was made at import", async () => {
  const model = fakeModel().says("Let me see.").calls("book", { seats: 4 }).says("Booked for four.");
  const said = await model.serve(() => answer("A table for four, please"));
  assert.equal(said, "Booked for four.");
  const [first, second] = await model.requests();
  assert.deepEqual(first.tools, ["book"]);
  assert.deepEqual(second.messages.at(-1).tool_results[0].text, "ok");
  assert.deepEqual(second.messages.at(-2).tool_uses[0].input, { seats: 4 });
});

test("lives through an overload", async () => {
  const model = fakeModel().fails(529, { retry_after: 0 }).says("Here I am.");
  assert.equal(await model.serve(() => answer("Are you there?")), "Here I am.");
  assert.deepEqual((await model.requests()).map((request) => request.status), [529, 200]);
});

test("a stream of another provider, without a block", async () => {
  const model = fakeModel({ wire: "openai-chat" }).says("Good morning to all of you.");
  await model.serve();
  const request = { model: "gpt-5", stream: true, messages: [{ role: "user", content: "hi" }] };
  let text = "";
  for await (const chunk of await new OpenAI().chat.completions.create(request)) {
    text += chunk.choices[0]?.delta?.content ?? "";
  }
  assert.equal(text, "Good morning to all of you.");
  assert.equal((await model.verify()).requests, 1);
});

test("what differs from the script fails, and names it", async () => {
  const rejected = (model, block, kind, words) => assert.rejects(model.serve(block), (error) => {
    assert.ok(error instanceof kind, String(error));
    assert.match(error.message, words);
    return true;
  });
  await rejected(fakeModel().says("a").says("b"), () => answer("x"), NotAsScripted, /script turn 2 .*\n?explain: /s);
  await rejected(fakeModel().says("a"), () => "nothing is asked", NotAsScripted, /no request reached.*register/s);
  await rejected(fakeModel().fault("sse.end_early"), () => "", HarnessError, /did you mean/);
  await rejected(fakeModel().calls("nothing"), () => answer("x"), Error, /known: book/);
  await rejected(fakeModel({ wire: "nowhere" }).says("a"), () => "", HarnessError, /nowhere/);
  await rejected(fakeModel({ wires: "x" }).says("a"), () => "", HarnessError, /wires/);
});

test("a block that throws says what was found, too", async () => {
  const model = fakeModel().says("a");
  const foreign = { role: "user", content: [{ type: "tool_result", tool_use_id: "x", content: "y" }] };
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const block = () => new Anthropic().messages.create({ model: "m", max_tokens: 9, messages: [foreign] });
  await assert.rejects(model.serve(block), /400[^]*loop-harness found, too:\nvalid_request\.V5/);
});

test("two at once: the second is asked by its URL", async () => {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const [one, two] = [fakeModel().says("one"), fakeModel().says("two")];
  await one.serve(() => two.serve(async () => {
    assert.equal(await answer("x"), "one");
    assert.equal(await answer("x", new Anthropic({ baseURL: two.url })), "two");
  }));
});

test("a model is served once, and its script ends with that", async () => {
  const model = fakeModel().says("a");
  await model.serve(() => answer("x"));
  await assert.rejects(model.serve(() => answer("x")), /served once/);
  assert.throws(() => model.says("b"), /cannot change/);
  await assert.rejects(model.verify(), /not served/);
});

test("await using verifies", async () => {
  const dispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");
  const model = fakeModel().says("a").says("never");
  await model.serve();
  await answer("x");
  await assert.rejects(model[dispose](), NotAsScripted);
});

test("a test is saved as a scenario", async () => {
  const model = fakeModel().calls("book", { seats: 4 }).says("Booked.");
  await model.serve(async () => {
    await answer("A table, please");
    assert.match(await model.save("saved/a-table.yaml"), /a-table\.yaml$/);
  });
  await assert.rejects(fakeModel().cassette("none.yaml").serve(() => ""), HarnessError);
});
