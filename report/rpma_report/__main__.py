# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m rpma_report` is rpma-report."""

import sys

from rpma_report.cli import main

sys.exit(main())
