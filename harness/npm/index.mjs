// Both forms are one module: two would be two servers, and two sets of error classes.
export { FakeModel, HarnessError, NotAsScripted, begin, fakeModel } from "./index.cjs";
