import { equal } from "node:assert/strict";
import { describe } from "./mod.ts";

Deno.test("numbers are told apart", () => {
  equal(describe("5"), "number 5");
  equal(describe("five"), "text five");
});
