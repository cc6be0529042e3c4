import six


def describe(value):
    return f"text {value}" if isinstance(value, six.string_types) else f"number {value}"
