from example_lib import describe


def test_numbers_are_told_apart():
    assert describe(5) == "number 5"
    assert describe("five") == "text five"
