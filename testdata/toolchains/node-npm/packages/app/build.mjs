// Stands for a bundler: copies src to dist and says from which version of Node.
import { cpSync, rmSync, writeFileSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
cpSync("src", "dist", { recursive: true });
writeFileSync("dist/built-by.txt", `node ${process.versions.node.split(".")[0]}\n`);
