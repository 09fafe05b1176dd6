"""Classes of C++ that Python goes on with."""


def extends(target):
    """A decorator: what the class defines becomes a part of `target`, so that what C++ makes has it as well."""

    def add(body):
        for name, member in vars(body).items():
            if name not in ("__module__", "__qualname__", "__dict__", "__weakref__", "__doc__"):
                setattr(target, name, member)
        return target

    return add
