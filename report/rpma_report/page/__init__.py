# SPDX-License-Identifier: BSD-3-Clause
"""What stands on a page, and its forms."""
