# SPDX-License-Identifier: BSD-3-Clause
"""Plans of many measurements, carried out and resumed."""
