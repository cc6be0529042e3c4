from example_lib import describe

LINES = [describe(1), describe("one")]
