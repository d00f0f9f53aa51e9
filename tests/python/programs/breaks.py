"""Its second program: imports and the decorator, which the text leaves out, were added.

SPDX-License-Identifier: Apache-2.0
"""
import torch
from ingot.profile import RemoteInferenceSession, accelerate, remote_profile

import torch.nn.functional as F
import time

@accelerate
def function_with_graph_breaks(x):
    time.sleep(1) # Uncompiled segment 0
    x = F.relu(x) # graph #1, segment 1
    torch._dynamo.graph_break() # Uncompiled segment 2
    time.sleep(0.1) # continue segment 2
    x = F.relu(x) # graph #2, segment 3
    time.sleep(1) # Uncompiled segment 4
    return x

sess = RemoteInferenceSession('r6i.large/onnxrt-cuda')
with remote_profile():
    for _ in range(2):
        function_with_graph_breaks(torch.tensor(1.))
