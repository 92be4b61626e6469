"""`python -m stagecache` is the `stagecache` command."""

from stagecache.cli.main import main

if __name__ == "__main__":
    main(prog_name="stagecache")
