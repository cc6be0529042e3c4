import { describe } from "@example/lib";
import ms from "ms";

export const lines = ["1", "one"].map((word) => `${describe(word)} after ${ms("1m")}`);
console.log(lines.join("\n"));
