"""Walk through all programs of all small graphs, and print how many there were.

``python -m tests.graph.small_worlds --nodes 4 --operations 5`` does all; one with fewer nodes or
operations is quick. It ends at the first difference, with the program that leads to it.
"""

import gc
import random
import time

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tests.graph.small_worlds.shapes import all_shapes
from tests.graph.small_worlds.walk import Counts, Walk

REPLAYED = 5  # random programs of each graph


@click.command()
@click.option("--nodes", default=4, show_default=True, help="Nodes of the largest graphs.")
@click.option("--operations", default=5, show_default=True, help="Operations of a program.")
@click.option("--deep", is_flag=True, help="Prepare prerequisites, as in deep chains.")
@click.option("--part", default="1/1", show_default=True, help="2/4: the second quarter of graphs.")
def main(nodes: int, operations: int, part: str, *, deep: bool) -> None:
    """Do all programs of up to OPERATIONS on all graphs of up to NODES."""
    console = Console()
    table = Table("nodes", "graphs", "programs", "operations done", "comparisons", "seconds")
    rng = random.Random(0)
    which, num_parts = part.split("/")
    gc.disable()  # it would look through all states again and again
    gc.freeze()
    for num_nodes in range(1, nodes + 1):
        start = time.monotonic()
        counts = Counts()
        shapes = list(all_shapes(num_nodes))[int(which) - 1 :: int(num_parts)]
        for shape in track(shapes, f"{num_nodes} nodes", console=console):
            walk = Walk(shape, deepest=0 if deep else None)
            counts += walk.go(operations)
            for _ in range(REPLAYED):
                walk.replay(rng, operations - 1)
            del walk
            gc.collect()
        numbers = counts.graphs, counts.programs, counts.operations, counts.comparisons
        seconds = f"{time.monotonic() - start:,.0f}"
        table.add_row(str(num_nodes), *[f"{number:,}" for number in numbers], seconds)
        console.print(table)
    console.print("0 differences")


main()
