# SPDX-License-Identifier: Apache-2.0
"""The library's codes as exceptions of Python."""


class ModelFileError(ValueError):
    """A file is not what it should be: no model, damaged, of another version, or not the one that was pickled."""


# By embert_hosted_result; 6 is an object of a parent process, 3 a fault of embert.
_EXCEPTIONS = {
    1: ValueError,
    2: ModelFileError,
    3: RuntimeError,
    4: ValueError,
    5: RuntimeError,
    6: RuntimeError,
    7: MemoryError,
    8: OSError,
    9: NotImplementedError,
}


def exception_of(result: int, message: str) -> Exception:
    """Returns the exception for a code that is not 0."""
    return _EXCEPTIONS.get(result, RuntimeError)(message)
