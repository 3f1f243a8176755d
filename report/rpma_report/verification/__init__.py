# SPDX-License-Identifier: BSD-3-Clause
"""Does a page tell what the results say?"""
