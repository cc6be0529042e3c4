import { describe } from "@example/lib";
// @ts-types="./ms.d.ts"
import ms from "ms";

export const lines: string[] = ["1", "one"].map((word) => `${describe(word)} after ${ms("1m")}`);

if (import.meta.main) console.log(lines.join("\n"));
