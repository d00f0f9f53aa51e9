"""Generated code imports this and calls nothing of it.  SPDX-License-Identifier: Apache-2.0"""
