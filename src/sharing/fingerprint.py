"""Fingerprints of values: SHA-256 of all of their content, with types, dtypes and shapes.

::

    value  ->  JSON and blobs, as in a file  ->  length and bytes of each  ->  SHA-256
    its classes, if any  ->  their code, as its methods may be called

Two values have the same fingerprint only if files store them in the same way: 1, 1.0 and True
differ, and so do 0.0 and -0.0. Equal values may have different fingerprints, such as two dicts with
the same items in another order.
"""

import hashlib
import json
from functools import lru_cache
from typing import Any, Final

from stagecache.errors import UnsavableValueError, UnsharableError
from stagecache.files.values import Blobs, encode
from stagecache.sharing.code import Code, classes_in, code_of

SIZE: Final = 8
"""Bytes of a length."""


def fingerprint(value: Any, where: str) -> bytes:
    """Return the fingerprint of a value, 32 bytes. Cost O(its size).

    Parameters
    ----------
    value : object
    where : str
        Path of the value, in errors.

    Raises
    ------
    UnsharableError
        A part of it cannot be saved in a file, or the code of its class cannot be compared.
    """
    blobs: Blobs = []
    try:
        content = encode(value, where, blobs)
    except UnsavableValueError as error:
        what = error.what.removesuffix(": cannot be saved")
        raise UnsharableError(
            f"{what}: is a prerequisite of a shared entry, and cannot be compared",
            error.expected,
            error.got,
            error.hint,
        ) from None
    parts = [json.dumps(content).encode(), *blobs]
    if isinstance(content, dict | list):
        for used in dict.fromkeys(classes_in(content)):
            code = _code_of(used)
            if not code.hash:
                raise UnsharableError(
                    f"{where}: its class has code that cannot be compared",
                    "a class of functions and plain values",
                    code.unknown,
                    "make it a plain class, or do not share the entry",
                )
            parts.append(code.hash.encode())
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(SIZE, "little"))
        hashed.update(part)
    return hashed.digest()


@lru_cache(maxsize=1000)
def _code_of(used: Any) -> Code:
    """Return the code of a class of values, or of a function that prepares values for a file."""
    return code_of(used)
