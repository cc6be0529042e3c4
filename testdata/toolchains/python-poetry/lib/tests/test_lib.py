from example_lib import describe


def test_values_are_in_brackets():
    assert describe("a") == "<a>"
