#!/usr/bin/env python3
"""bento-adapter-__ID__: teaches bento the language __ID__. SPDX-License-Identifier: MIT-0"""
from __future__ import annotations

import json, os, re, sys
from typing import Any, BinaryIO, Optional

MARKER = "__ID__.txt"
MANIFEST: dict[str, Any] = {
    "protocol_version": 1, "adapter_id": "__ID__", "display_name": "__ID__",
    "fingerprint_files": [MARKER, ".__ID__-version"],
    "default_tasks": [
        {"name": "build", "run": f"mkdir -p out && cp {MARKER} out/result", "outputs": ["out/**"]},
        {"name": "test", "run": f"test -s {MARKER}"},
        {"name": "lint", "run": f"! grep -Hn TODO {MARKER}"},
    ],
    "capabilities": {"detect": True, "required_toolchain": True, "install": True, "links": True},
    "diagnostic_hooks": {"lint": {"parser": "plugin", "rerun": {"kind": "append_args", "args": []}}},
}


class Wrong(Exception):
    """An answer that is an error: its code and message."""


def text_of(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise Wrong(-32602, f"params.{name}: expected a text")
    return value


def lines_of(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def required_toolchain(directory: str) -> Optional[dict[str, Any]]:
    path = os.path.join(directory, ".__ID__-version")
    for number, line in enumerate(lines_of(path), 1):
        if line.strip():
            return {"tool": "__ID__", "version": line.strip(), "file": path, "line": number}
    return None


def links(directory: str) -> dict[str, Any]:
    """A line "use ../lib" is a dependency on the dish in that directory."""
    path, found = os.path.join(directory, MARKER), []
    for number, line in enumerate(lines_of(path), 1):
        if line.startswith("use "):
            found.append({"dir": os.path.normpath(os.path.join(directory, line[4:].strip())), "file": path, "line": number})
    return {"links": found}


def findings(params: dict[str, Any]) -> dict[str, Any]:
    """What lint prints: FILE:LINE:TEXT, with FILE relative to the dish."""
    root, dish, found = text_of(params, "workspace_root"), text_of(params, "dish_dir"), []
    for line in text_of(params, "stdout").splitlines():
        match = re.match(r"([^:]+):(\d+):(.*)", line)
        if match:
            file = os.path.relpath(os.path.join(dish, match[1]), root)
            found.append({"file": file, "line": int(match[2]), "severity": "warning", "message": match[3].strip(), "source": "__ID__"})
    return {"diagnostics": found}


def answer(method: str, params: Any) -> Any:
    if not isinstance(params, dict):
        raise Wrong(-32602, "params: expected an object")
    if method == "initialize":
        return MANIFEST
    if method == "detect":
        return {"matches": os.path.isfile(os.path.join(text_of(params, "dir"), MARKER))}
    if method == "requiredToolchain":
        return required_toolchain(text_of(params, "dir"))
    if method == "links":
        return links(text_of(params, "dir"))
    if method == "parseDiagnostics":
        return findings(params)
    if method == "install":
        send({"method": "notifications/log", "params": {"level": "info", "message": "nothing to install"}})
    if method in ("install", "shutdown"):
        return None
    raise Wrong(-32601, f"method not found: {method}")


def receive(stream: BinaryIO) -> Any:
    length = 0
    for line in iter(stream.readline, b""):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
        elif not line.strip():
            return json.loads(stream.read(length))
    sys.exit(0)


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def main() -> None:
    while True:
        request = receive(sys.stdin.buffer)
        if "id" not in request:
            continue  # a notification
        try:
            send({"id": request["id"], "result": answer(request.get("method", ""), request.get("params", {}))})
        except Wrong as wrong:
            send({"id": request["id"], "error": {"code": wrong.args[0], "message": wrong.args[1]}})
        if request.get("method") == "shutdown":
            return


if __name__ == "__main__":
    main()
