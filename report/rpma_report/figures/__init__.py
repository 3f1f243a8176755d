# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind every chart, their tables and alternative texts.

Pure functions from runs to figures: one module each kind of chart.
"""
