from app import LINES


def test_the_library_is_used():
    assert LINES == ["number 1", "text one"]
