"""The frame of the command line: what it says of wrong options, interruptions, lacking modules."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, ClassVar, NoReturn

import click

from tapemigrate.command.terminal import OutputError, discard_output, say

# Only what runs programs needs them.
_NOT_INSTALLED_WITH_US = ("numpy", "tensorflow")


class Program(click.Group):
    """Tells a wrong option, and an interruption, in one line; loads ``verify`` when it is used."""

    lazy: ClassVar = {"verify": "tapemigrate.verify.command"}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, of those that are not loaded too."""
        return sorted([*super().list_commands(ctx), *self.lazy])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; one that cannot be loaded says so when it is called."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        try:
            command: click.Command = getattr(import_module(self.lazy[cmd_name]), cmd_name)
        except ModuleNotFoundError as error:
            return _unavailable(cmd_name, error)
        return command

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Runs a command, and ends the process: with 2 for what could not be done at all."""
        kwargs["standalone_mode"] = False
        try:
            status = super().main(*args, **kwargs)
            if sys.stdout is not None:
                sys.stdout.flush()
        except click.ClickException as error:
            say(f"tapemigrate: {' '.join(error.format_message().split())}")
            status = 2
        except ModuleNotFoundError as error:
            if error.name not in _NOT_INSTALLED_WITH_US:
                raise
            say(f"tapemigrate: this needs {error.name}; `pip install tensorflow` installs it")
            status = 2
        except (click.Abort, KeyboardInterrupt):
            say("tapemigrate: interrupted; every file is as it was or rewritten, none is half")
            status = 130
        except BrokenPipeError:
            # Whoever read our output has seen enough.
            discard_output()
            status = 1
        except OutputError as error:
            discard_output()
            say(f"tapemigrate: standard output cannot be written: {error}")
            status = 2
        sys.exit(status or 0)


def _unavailable(name: str, error: ModuleNotFoundError) -> click.Command:
    """Stands for a command that lacks a module: whoever calls it is told so."""

    def tell() -> NoReturn:
        raise error

    return click.Command(
        name,
        callback=tell,
        short_help=f"Needs {error.name}, which is not installed.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
