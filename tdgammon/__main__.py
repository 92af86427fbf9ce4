"""`python -m tdgammon`: the same as the `tdgammon` command."""

import sys

from tdgammon.cli.main import main

sys.exit(main())
