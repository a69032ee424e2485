"""``python -m robustpu``: the command line."""

from robustpu.cli import main

main()
