# SPDX-License-Identifier: BSD-3-Clause
"""Reports from results of rpma-bench, rpma-ping, rpma-ddio-check and fio.

What stands where: sources reads and checks a file, model holds what it said,
figures works out the numbers behind each chart, draw draws them, page puts
everything together, commands are what a user calls.
"""

__version__ = "1.4.0"
