"""SPDX-License-Identifier: Apache-2.0"""
from .function import Function
