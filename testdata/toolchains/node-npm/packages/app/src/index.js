import { describe } from "@example/lib";

export const lines = ["1", "one"].map(describe);
console.log(lines.join("\n"));
