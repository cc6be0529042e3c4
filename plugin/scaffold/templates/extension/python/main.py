#!/usr/bin/env python3
"""An extension of bento: it counts the runs that it hears of."""

import os

from ainb import Extension


class Counter(Extension):
    def start(self):
        # bento makes this directory for the extension: one for each workspace
        self.file = os.path.join(os.environ.get("BENTO_EXTENSION_DATA", "."), "runs")

    def event(self, topic, data):
        if topic == "run.finished":
            count = self.count() + 1
            new = f"{self.file}.{os.getpid()}"
            with open(new, "w") as f:
                f.write(str(count))
            os.replace(new, self.file)

    def command(self, args):
        return 0, f"{self.count()} runs\n", ""

    def count(self):
        try:
            with open(self.file) as f:
                return int(f.read())
        except FileNotFoundError:
            return 0


Counter("__ID__", "0.1.0").serve()
