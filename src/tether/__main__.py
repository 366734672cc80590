"""`python -m tether` is the command `tether`."""

import sys

from tether.cli import main

sys.exit(main())
