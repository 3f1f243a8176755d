# SPDX-License-Identifier: BSD-3-Clause
"""Reports from the results of rpma-bench: JSON in, one self-contained page out.

What stands where: result_file reads and checks a file, result holds what it
said, figures works out the numbers behind each chart, chart and svg draw them,
page puts everything together, atomic_file writes it.
"""

__version__ = "1.4.0"
