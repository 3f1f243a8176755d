# SPDX-License-Identifier: BSD-3-Clause
"""Are two runs the same, or is one better?"""
