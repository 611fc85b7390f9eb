"""``python -m kiprdf`` is the command line."""

from kiprdf.cli import main

if __name__ == "__main__":
    main()
