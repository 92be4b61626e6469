"""Models of the benchmark of the explorer: of the sizes that it names."""

from benchmarks.explorer.models import links, springs, table


def test_the_table_has_3030_nodes() -> None:
    counts = table().counts
    assert (counts["variable"], counts["entry"]) == (30, 3_000)


def test_springs_are_alike_and_the_moved_one_is_stale() -> None:
    view = springs(4)
    assert view["spring.force"].status == "valid"
    assert view["spring_4.force"].status == "stale"
    assert len({node.alike for node in view if node.subsystem.startswith("spring")}) == 1


def test_links_have_entries_that_are_valid_and_some_that_are_stale() -> None:
    statuses = {node.status for node in links(9) if node.kind == "entry"}
    assert {"valid", "stale"} <= statuses
