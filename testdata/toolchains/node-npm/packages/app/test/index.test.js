import assert from "node:assert";
import test from "node:test";
import { lines } from "../dist/index.js";

test("the library is used", () => {
  assert.deepEqual(lines, ["number 1 after 60000", "text one after 60000"]);
});
