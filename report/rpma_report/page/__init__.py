# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a page, and its forms."""
