import io
import json

import pytest

from lunchbox_pricing import table


@pytest.mark.parametrize(
    ("cost", "want"),
    [(0, 0), (1, 10), (60, 160), (95, 250), (100, 260), (140, 370)],
)
def test_price(cost, want):
    assert table.price(cost) == want


def test_rows_keep_the_order_of_the_menu():
    rows = table.read(["name,grams,cost_cents", "soup,250,80", "rice,180,60"])
    assert [row["name"] for row in rows] == ["soup", "rice"]
    assert rows[0] == {"name": "soup", "grams": 250, "price_cents": 210}


def test_write_is_json():
    file = io.StringIO()
    table.write([{"name": "rice", "grams": 180, "price_cents": 160}], file)
    assert json.loads(file.getvalue())["dishes"][0]["name"] == "rice"
