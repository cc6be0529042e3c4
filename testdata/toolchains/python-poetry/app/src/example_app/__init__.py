import idna
from example_lib import describe


def address(name):
    return describe(idna.encode(name).decode())
