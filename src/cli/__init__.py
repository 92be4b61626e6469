"""The command `stagecache`, one file a subcommand."""
