"""Words of texts that people read."""


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 cache entry", "2 cache entries"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
