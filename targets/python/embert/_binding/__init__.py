# SPDX-License-Identifier: Apache-2.0
"""The C library as Python sees it: functions, an opened model, lists of texts, Ctrl-C, errors."""
