"""Its third program: as the second one; the call was added.

SPDX-License-Identifier: Apache-2.0
"""
import torch
import torch.nn.functional as F
from ingot.profile import RemoteInferenceSession, accelerate, remote_profile

@accelerate
def simple_function(x):
    # implicit uncompiled segment 0
    x = F.relu(x) # graph #1, segment 1
    # implicit uncompiled segment 2
    return x

RemoteInferenceSession().print_supported_backends()
with remote_profile():
    for _ in range(3):
        simple_function(torch.ones(4))
