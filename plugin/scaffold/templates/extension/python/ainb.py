"""The ainb contract v2 for an extension of bento, with the standard library alone.

    from ainb import Extension

    class Greeter(Extension):
        def event(self, topic, data): ...
        def command(self, args): return 0, "hello\\n", ""

    Greeter("greeter", "1.0.0").serve()

Standard output belongs to the protocol: print writes to standard error, which bento ext logs shows.
"""

import base64
import json
import sys


class Denied(Exception):
    """bento refused a request; code is that of the contract."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.code = error.get("code")


class Extension:
    def __init__(self, name, version):
        self.name, self.version = name, version
        self.config, self.granted = {}, []
        self._in, self._out = sys.stdin.buffer, sys.stdout.buffer
        self._next, self._waiting = 0, []
        sys.stdout = sys.stderr

    # What an extension overrides.

    def start(self):
        """is called once, before all others"""

    def event(self, topic, data):
        """one event: data is JSON of bento's topics, bytes of others"""

    def command(self, args):
        """bento x NAMESPACE ARGS…: returns the exit code, stdout and stderr"""
        return 2, "", f"{self.name} has no commands\n"

    # What an extension calls.

    def snapshot(self, topic):
        """the latest JSON of a topic, None if there is none"""
        payload = self.ask("host/snapshot/get", {"topic": topic})["payload"]
        return None if payload is None else decoded(payload)

    def log(self, level, message):
        self._send({"method": "host/log", "params": {"level": level, "message": message}})

    def ask(self, method, params):
        """asks bento, and keeps what comes in between for later"""
        self._next += 1
        self._send({"id": self._next, "method": method, "params": params})
        while True:
            m = self._receive()
            if m is None:
                raise EOFError("bento has closed the connection")
            if "method" in m or m.get("id") != self._next:
                self._waiting.append(m)
            elif "error" in m:
                raise Denied(m["error"])
            else:
                return m["result"]

    # The protocol.

    def serve(self):
        while True:
            m = self._waiting.pop(0) if self._waiting else self._receive()
            if m is None:
                return
            if "method" not in m:
                continue
            try:
                result = self._handle(m["method"], m.get("params") or {})
            except NotImplementedError:
                self._answer(m, error={"code": -32601, "message": "method not found: " + m["method"]})
            except Exception as e:  # one message does not end the extension
                self.log("error", f"{m['method']}: {e!r}")
                self._answer(m, error={"code": getattr(e, "code", None) or -32603, "message": str(e)})
            else:
                self._answer(m, result=result)
                if m["method"] == "plugin/shutdown":
                    return

    def _handle(self, method, params):
        if method == "plugin/init":
            if params.get("abi_version") != 2:
                raise ValueError("abi_version: required 2")
            self.config, self.granted = params.get("config") or {}, params.get("granted_capabilities") or []
            self.start()
            return {"name": self.name, "version": self.version}
        if method == "plugin/handle_event":
            self.event(params["topic"], decoded(params["payload"]))
        elif method == "plugin/cli_dispatch":
            code, out, err = self.command(params["argv"])
            return {"exit_code": code, "stdout": encoded(out), "stderr": encoded(err)}
        elif method != "plugin/shutdown" and method != "plugin/handle_key" and method != "plugin/handle_mouse":
            raise NotImplementedError
        return {}

    def _answer(self, m, **what):
        if "id" in m:
            self._send({"id": m["id"], **what})

    def _send(self, m):
        body = json.dumps({"jsonrpc": "2.0", **m}).encode()
        self._out.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._out.flush()

    def _receive(self):
        length = None
        while line := self._in.readline():
            if line == b"\r\n":
                return json.loads(self._in.read(length))
            length = int(line.split(b":")[1])
        return None


def encoded(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def decoded(payload):
    data = base64.b64decode(payload) if isinstance(payload, str) else bytes(payload)
    try:
        return json.loads(data)
    except ValueError:
        return data
