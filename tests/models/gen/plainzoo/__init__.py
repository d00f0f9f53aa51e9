"""Modules as their authors write them, for packages of plain Python.

SPDX-License-Identifier: Apache-2.0
"""
