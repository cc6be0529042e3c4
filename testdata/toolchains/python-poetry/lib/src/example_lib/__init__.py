import six


def describe(value):
    return six.ensure_str(f"<{value}>")
