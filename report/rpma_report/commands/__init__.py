# SPDX-License-Identifier: BSD-3-Clause
"""One module each command: add_to(commands) adds its options, and their `run` does it.

A module imports what is slow to load inside its functions: a usage error or a bad
file needs no matplotlib.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object
