"""Names in annotations.  SPDX-License-Identifier: Apache-2.0"""
import builtins

from ._dtypes import dtype as _dtype
from ._tensor import Size as _size
from ._tensor import device as _device

Device, Number = object, (builtins.int, builtins.float, builtins.bool)
