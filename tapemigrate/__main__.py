"""The program: ``tapemigrate``, or ``python -m tapemigrate``."""

import gc

# What modules make lasts as long as the program: there is no garbage to look for in it.
gc.disable()

from tapemigrate.cli import main  # noqa: E402

gc.freeze()
gc.enable()

if __name__ == "__main__":
    main(prog_name="tapemigrate")
