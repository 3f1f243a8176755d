# SPDX-License-Identifier: BSD-3-Clause
"""An error that the user can do something about: one line on stderr and exit code 2."""


class Failure(Exception):
    """Names the file and the place; never wrapped, never printed but by cli.main."""
