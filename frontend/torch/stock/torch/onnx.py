"""SPDX-License-Identifier: Apache-2.0"""


def is_in_onnx_export():
    return False
