"""What torch computes with: none of them is here.  SPDX-License-Identifier: Apache-2.0"""
from . import cuda, cudnn, mkldnn, mps
