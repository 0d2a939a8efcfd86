"""``python -m sectioncls``: the command line where the installed script is not on the path."""

from sectioncls.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
