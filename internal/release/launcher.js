#!/usr/bin/env node
// Starts the program of bento that an optional dependency of this package has for this machine.
"use strict";

if (process.platform === "win32") {
  console.error("bento: bento runs on Linux and macOS; on Windows use WSL, and install its packages there");
  process.exit(3);
}

const name = `bento-build-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bento`);
} catch {
  console.error(
    `bento: the package ${name} is not installed\n` +
      "bento: it is an optional dependency of bento-build, for linux and darwin on x64 and arm64; install again without --omit=optional\n" +
      "bento: (pnpm: supportedArchitectures, yarn: supportedArchitectures), on the machine where bento runs",
  );
  process.exit(3);
}

const args = process.argv.slice(2);
if (typeof process.execve === "function") {
  try {
    process.execve(program, ["bento", ...args], process.env);
  } catch {
    // a program cannot take the place of this process here: it becomes its child
  }
}

const child = require("node:child_process").spawn(program, args, { stdio: "inherit", argv0: "bento" });
child.on("error", (err) => {
  console.error(`bento: ${program}: ${err.message}`);
  process.exit(3);
});
// The terminal sends its signals to both; others reach this process alone.
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}
process.on("SIGINT", () => {});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
