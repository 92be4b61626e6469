"""Events: triggers, handlers, reporters, and their times."""
