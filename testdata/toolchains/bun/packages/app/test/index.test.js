import { expect, test } from "bun:test";
import { lines } from "../dist/index.js";

test("the library is used", () => {
  expect(lines).toEqual(["number 1 after 60000", "text one after 60000"]);
});
