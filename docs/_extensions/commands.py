"""The help of every command, for the page `reference/commands.md`, from the program itself."""

from collections.abc import Iterator

import click

from stagecache.cli.main import main

WIDTH = 88


def help_of_commands() -> str:
    """Sections in Markdown: `stagecache --help`, then each subcommand, in their order there."""
    return "\n".join(_sections(main, "stagecache", None))


def _sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=WIDTH, terminal_width=WIDTH
    )
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from _sections(found, child, context)
