"""The price table: read the menu, set prices."""

import csv
import json

MARKUP = 2.6  # rent, wages and what is thrown away
STEP = 10  # prices end in 0, in cents


def price(cost_cents):
    """The price in cents: marked up, rounded up to a full step."""
    exact = round(cost_cents * MARKUP)
    return -(-exact // STEP) * STEP


def read(lines):
    """The rows of a menu, in the order of the menu."""
    return [
        {
            "name": row["name"],
            "grams": int(row["grams"]),
            "price_cents": price(int(row["cost_cents"])),
        }
        for row in csv.DictReader(lines)
    ]


def write(rows, file):
    """The same rows always give the same bytes."""
    json.dump({"currency": "EUR", "dishes": rows}, file, indent=2)
    file.write("\n")
