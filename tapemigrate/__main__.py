"""``python -m tapemigrate``."""

from tapemigrate.cli import main

if __name__ == "__main__":
    main(prog_name="tapemigrate")
