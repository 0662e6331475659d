"""How the command line says what is to be run on both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--before-python",
        metavar="PYTHON",
        help="Run the old side with this interpreter, one that has TensorFlow 1.x.",
    ),
    click.option(
        "--device",
        type=click.Choice(("cpu", "gpu")),
        default="cpu",
        show_default=True,
        help="Where TensorFlow computes.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="How long one run may take.",
    ),
)


def running(function: _F) -> _F:
    """Adds the options that say how to run."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


class WithCommand(click.Command):
    """Keeps what follows ``--`` apart from the other arguments: it is a command to run.

    It is in ``ctx.meta["command"]``. ``only_with`` is an option without which ``--`` has its usual
    meaning; ``ctx.meta["behind"]`` tells how many arguments then follow it.
    """

    only_with: str | None = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes the command off before click reads the rest."""
        command: list[str] = []
        behind = 0
        if "--" in args:
            at = args.index("--")
            if self.only_with is None or self.only_with in args[:at]:
                args, command = args[:at], args[at + 1 :]
            else:
                behind = len(args) - at - 1
        ctx.meta["behind"] = behind
        ctx.meta["command"] = tuple(command)
        return super().parse_args(ctx, args)
