const { fakeModel } = require("loop-harness");

test("a client that is made inside serve", async () => {
  const model = fakeModel().says("Hello.");
  await model.serve(async () => {
    const Anthropic = require("@anthropic-ai/sdk").default;
    const request = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
    const reply = await new Anthropic().messages.create(request);
    expect(reply.content[0].text).toBe("Hello.");
  });
});
