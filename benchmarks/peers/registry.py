"""Which peers there are, and which of them are installed."""

from collections.abc import Container, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final

from benchmarks.peers.base import AbstractPeer

Peer = type[AbstractPeer[Any]]
"""A class of peers. `Any`: each has its own type of handle, which only itself understands."""

OWN: Final = "stagecache"
"""The column of the form that limits are for: compiled, where both forms are measured."""

OTHER: Final = "the other form"
"""The column of the other form of stagecache: plain Python, where both forms are measured."""

HOMES: Final = {
    "stagecache": ("own", "Stagecache", "stagecache"),
    "drake": ("drake", "Drake", "pydrake"),
    "observ": ("observ", "Observ", "observ"),
    "reaktiv": ("reaktiv", "Reaktiv", "reaktiv"),
    "reaktiv, unlocked": ("reaktiv", "UnlockedReaktiv", "reaktiv"),
    "traits": ("traits", "Traits", "traits"),
}
"""By the peer's name: its module here, its class there, and the package that it needs."""


def load_peer(name: str) -> Peer:
    """Import the adapter of that name.

    Raises
    ------
    ModuleNotFoundError
        The library is not installed.
    """
    module, attribute, _ = HOMES[name]
    peer: Peer = getattr(import_module(f".{module}", __package__), attribute)
    return peer


def load_peers(names: Container[str] = frozenset(HOMES)) -> tuple[list[Peer], list[str]]:
    """Return which of those peers are installed, stagecache first, and the names of the others."""
    found: list[Peer] = []
    missing: list[str] = []
    for name, (_, _, package) in HOMES.items():
        if name not in names:
            continue
        try:
            found.append(load_peer(name))
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != package:
                raise
            missing.append(name)
    return found, missing


def versions(peers: Sequence[Peer]) -> dict[str, str]:
    """Return the version of what is installed, by distribution."""
    return {d: version(d) for d in dict.fromkeys(peer.distribution for peer in peers)}
