import { expect, test } from "bun:test";
import { describe } from "../dist/index.js";

test("numbers are told apart", () => {
  expect(describe("5")).toBe("number 5");
  expect(describe("five")).toBe("text five");
});
