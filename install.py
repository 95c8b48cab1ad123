#!/usr/bin/env python3
"""Installs Hippocampus for the current user, or upgrades or removes it: `python3 install.py --help`.

Needs Python 3.10 or newer and nothing else. The work is in hippo_core/ops/bootstrap.py; this file is written so that
any Python reads as far as the line that says it is too old.
"""

import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit(
        "Hippocampus needs Python 3.10 or newer, and this is "
        + sys.version.split()[0]
        + " ("
        + str(sys.executable)
        + "). "
        "Run install.py with a newer one, for example: python3.12 install.py"
    )

sys.dont_write_bytecode = True  # leave the checkout as it is
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hippo_core.ops.bootstrap import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
