import { deepEqual } from "node:assert/strict";
import { lines } from "./main.ts";

Deno.test("the library is used", () => {
  deepEqual(lines, ["number 1 after 60000", "text one after 60000"]);
});
