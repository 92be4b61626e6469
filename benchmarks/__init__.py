"""Side-by-side measurements of stagecache and its peers: `python -m benchmarks`.

See `README.md` for what is measured, how, and the figures of one full run.
"""
