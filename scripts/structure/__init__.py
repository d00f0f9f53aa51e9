"""The rules of scripts/check-structure.  SPDX-License-Identifier: Apache-2.0"""
