"""A worker of BuildGrid: it takes one lease at a time and has buildbox-run execute the action.

bot.py SERVER NAME PROPERTY=VALUE[,...] RUNNER [FLAG ...]
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2.remote_execution_pb2 import Action, ActionResult, Digest
from buildgrid._protos.google.bytestream.bytestream_pb2 import ReadRequest
from buildgrid._protos.google.bytestream.bytestream_pb2_grpc import ByteStreamStub
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc, worker_pb2

INTERNAL = 13  # google.rpc.Code
LOOK = 0.2  # seconds between questions whether a lease was canceled
POLL = 4  # seconds: the server answers earlier only if there is a lease


class Job:
    """One execution of an action."""

    def __init__(self, lease, server, runner, blobs):
        action = Action()
        if not lease.payload.Unpack(action):
            digest = Digest()
            lease.payload.Unpack(digest)
            parts = blobs.Read(ReadRequest(resource_name=f"blobs/{digest.hash}/{digest.size_bytes}"))
            action.ParseFromString(b"".join(part.data for part in parts))
        self.dir = tempfile.mkdtemp(prefix="bot-")
        with open(self.dir + "/action", "wb") as file:
            file.write(action.SerializeToString())
        flags = [f"--remote=http://{server}", "--disable-localcas", f"--workspace-path={self.dir}",
                 f"--action={self.dir}/action", f"--action-result={self.dir}/result"]
        with open(self.dir + "/log", "wb") as log:
            self.process = subprocess.Popen(runner[:1] + flags + runner[1:], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def wait(self):
        """Reports whether it has ended, after a while."""
        try:
            self.process.wait(LOOK)
            return True
        except subprocess.TimeoutExpired:
            return False

    def finish(self, lease):
        result = ActionResult()
        try:
            with open(self.dir + "/result", "rb") as file:
                result.ParseFromString(file.read())
        except OSError:
            with open(self.dir + "/log", errors="replace") as log:
                said = log.read()[-2000:]
            print(said, flush=True)
            lease.status.code, lease.status.message = INTERNAL, said[-500:]
        lease.result.Pack(result)
        lease.state = bots_pb2.COMPLETED

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def main(server, name, properties, *runner):
    channel = grpc.insecure_channel(server)
    bots, blobs = bots_pb2_grpc.BotsStub(channel), ByteStreamStub(channel)
    device = worker_pb2.Device(handle=name)
    for pair in properties.split(","):
        key, _, value = pair.partition("=")
        device.properties.add(key=key, value=value)
    session = bots_pb2.BotSession(bot_id=name, status=bots_pb2.OK, worker=worker_pb2.Worker(devices=[device]))
    session = bots.CreateBotSession(bots_pb2.CreateBotSessionRequest(parent="", bot_session=session), timeout=POLL, wait_for_ready=True)
    job, of = None, ""
    while True:
        if job and of not in [lease.id for lease in session.leases if lease.state != bots_pb2.CANCELLED]:
            job.end()
            job = None
        for lease in session.leases:
            if lease.state in (bots_pb2.PENDING, bots_pb2.ACTIVE) and not job:
                job, of = Job(lease, server, list(runner), blobs), lease.id
                lease.state = bots_pb2.ACTIVE
            if job and lease.id == of and job.wait():
                job.finish(lease)
                job.end()
                job = None
        session = bots.UpdateBotSession(bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session), timeout=POLL)


main(*sys.argv[1:])
