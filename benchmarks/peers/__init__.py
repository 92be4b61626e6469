"""An adapter for each library that is measured. Those of peers import them when they are loaded."""

from benchmarks.peers.base import AbstractPeer, Compute, H, Reader, Writer
from benchmarks.peers.counting import Counting
from benchmarks.peers.registry import HOMES, OTHER, OWN, Peer, load_peer, load_peers, versions

__all__ = [
    "HOMES",
    "OTHER",
    "OWN",
    "AbstractPeer",
    "Compute",
    "Counting",
    "H",
    "Peer",
    "Reader",
    "Writer",
    "load_peer",
    "load_peers",
    "versions",
]
