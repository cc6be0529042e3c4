"""python -m lunchbox_pricing MENU.csv PRICES.json"""

import sys

from tabulate import tabulate

from . import table


def main(menu, prices):
    with open(menu, newline="", encoding="utf-8") as file:
        rows = table.read(file)
    with open(prices, "w", encoding="utf-8") as file:
        table.write(rows, file)
    print(tabulate(rows, headers="keys"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
