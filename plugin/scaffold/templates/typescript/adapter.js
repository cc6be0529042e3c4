// SPDX-License-Identifier: MIT-0
// bento-adapter-__ID__: teaches bento the language __ID__. It runs in Node.js 20 and newer and in Deno, without
// dependencies and without a build: the types are TypeScript, in comments, which `make check` checks.
// @ts-check

/** @typedef {import("./protocol.d.ts").Manifest} Manifest */
/** @typedef {import("./protocol.d.ts").Request} Request */

const MARKER = "__ID__.txt";

/** @type {Manifest} */
const MANIFEST = {
  protocol_version: 1,
  adapter_id: "__ID__",
  display_name: "__ID__",
  fingerprint_files: [MARKER, ".__ID__-version"],
  default_tasks: [
    { name: "build", run: `mkdir -p out && cp ${MARKER} out/result`, outputs: ["out/**"] },
    { name: "test", run: `test -s ${MARKER}` },
    { name: "lint", run: `! grep -Hn TODO ${MARKER}` },
  ],
  capabilities: { detect: true, required_toolchain: true, install: true, links: true },
  diagnostic_hooks: { lint: { parser: "plugin", rerun: { kind: "append_args", args: [] } } },
};

/** An answer that is an error. */
class Wrong extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

async function main() {
  // Imported here, so that the file is a script and a module alike.
  const { readFileSync, statSync } = await import("node:fs");
  const { join, relative, resolve } = await import("node:path");
  const { default: process } = await import("node:process");
  const { Buffer } = await import("node:buffer");

  /** @param {string} path @returns {string[]} */
  const linesOf = (path) => {
    try {
      return readFileSync(path, "utf8").split(/\r?\n/);
    } catch {
      return [];
    }
  };

  /** @param {Record<string, unknown>} params @param {string} name @returns {string} */
  const textOf = (params, name) => {
    const value = params[name];
    if (typeof value !== "string") throw new Wrong(-32602, `params.${name}: expected a text`);
    return value;
  };

  /** @param {string} dir */
  const matches = (dir) => statSync(join(dir, MARKER), { throwIfNoEntry: false })?.isFile() ?? false;

  /** @param {string} dir @returns {import("./protocol.d.ts").Toolchain | null} */
  const requiredToolchain = (dir) => {
    const file = join(dir, ".__ID__-version");
    const lines = linesOf(file);
    const at = lines.findIndex((line) => line.trim() !== "");
    return at < 0 ? null : { tool: "__ID__", version: lines[at].trim(), file, line: at + 1 };
  };

  /** A line "use ../lib" is a dependency on the dish in that directory.
   * @param {string} dir @returns {import("./protocol.d.ts").Links} */
  const links = (dir) => {
    const file = join(dir, MARKER);
    return {
      links: linesOf(file).flatMap((line, i) =>
        line.startsWith("use ") ? [{ dir: resolve(dir, line.slice(4).trim()), file, line: i + 1 }] : []
      ),
    };
  };

  /** What lint prints: FILE:LINE:TEXT, with FILE relative to the dish.
   * @param {Record<string, unknown>} params @returns {import("./protocol.d.ts").Diagnosed} */
  const findings = (params) => {
    const root = textOf(params, "workspace_root"), dish = textOf(params, "dish_dir");
    return {
      diagnostics: [...textOf(params, "stdout").matchAll(/^([^:\n]+):(\d+):(.*)$/gm)].map((found) => ({
        file: relative(root, join(dish, found[1])), line: Number(found[2]), severity: "warning", message: found[3].trim(), source: "__ID__",
      })),
    };
  };

  /** @param {string} method @param {unknown} params @returns {unknown} */
  const answer = (method, params) => {
    if (typeof params !== "object" || params === null || Array.isArray(params)) throw new Wrong(-32602, "params: expected an object");
    const given = /** @type {Record<string, unknown>} */ (params);
    switch (method) {
      case "initialize":
        return MANIFEST;
      case "detect":
        return { matches: matches(textOf(given, "dir")) };
      case "requiredToolchain":
        return requiredToolchain(textOf(given, "dir"));
      case "links":
        return links(textOf(given, "dir"));
      case "parseDiagnostics":
        return findings(given);
      case "install":
        send({ method: "notifications/log", params: { level: "info", message: "nothing to install" } });
        return null;
      case "shutdown":
        return null;
    }
    throw new Wrong(-32601, `method not found: ${method}`);
  };

  /** @param {object} message */
  const send = (message) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    process.stdout.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  };

  /** @param {Request} request */
  const serve = (request) => {
    if (request.id === undefined) return; // a notification
    try {
      send({ id: request.id, result: answer(request.method ?? "", request.params ?? {}) });
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      send({ id: request.id, error: { code: error.code, message: error.message } });
    }
  };

  let input = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    input = Buffer.concat([input, chunk]);
    for (;;) {
      const head = /^([^]*?)\r?\n\r?\n/.exec(input.subarray(0, 8192).toString("latin1"));
      if (head === null) break;
      const length = Number(/^content-length:\s*(\d+)/im.exec(head[1])?.[1]);
      if (input.length < head[0].length + length) break;
      const request = JSON.parse(input.subarray(head[0].length, head[0].length + length).toString());
      input = input.subarray(head[0].length + length);
      serve(request);
      if (request.method === "shutdown") return;
    }
  }
}

main().then(() => process.exit(0));
