import { describe, expect, test } from "vitest";
import { fakeModel, type Request } from "loop-harness";
import { answer } from "./app.mjs";

test("books a table", async () => {
  await using model = fakeModel().calls("book", { seats: 4 }).says("Booked.");
  await model.serve();
  expect(await answer("x")).toBe("Booked.");
  const asked: Request[] = await model.requests();
  expect(asked[1]?.messages.at(-1)?.tool_results[0]?.text).toBe("ok");
});

describe("the next test has the same client", () => {
  test("and another model", async () => {
    const said: string = await fakeModel().says("Again.").serve(() => answer("y"));
    expect(said).toBe("Again.");
  });
});
