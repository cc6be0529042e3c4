# SPDX-License-Identifier: Apache-2.0
"""Prints the menu."""

import json
import pathlib

# TODO: print the prices, too
for name in json.loads(pathlib.Path("data/menu.json").read_text(encoding="utf-8"))["dishes"]:
    print(name)
