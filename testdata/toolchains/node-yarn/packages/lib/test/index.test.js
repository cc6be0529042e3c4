import assert from "node:assert";
import test from "node:test";
import { describe } from "../dist/index.js";

test("numbers are told apart", () => {
  assert.equal(describe("5"), "number 5");
  assert.equal(describe("five"), "text five");
});
