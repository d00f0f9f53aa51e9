"""SPDX-License-Identifier: Apache-2.0"""
cuda = hip = git_version = None
