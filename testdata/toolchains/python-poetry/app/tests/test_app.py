from example_app import address


def test_the_library_is_used():
    assert address("bücher") == "<xn--bcher-kva>"
