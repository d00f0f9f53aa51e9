"""Times of a PyTorch function on several backends, graph by graph.

    from ingot.profile import RemoteInferenceSession, accelerate, remote_profile

    @accelerate
    def predict(x):
        return softmax(model(x), dim=-1)

    with remote_profile(RemoteInferenceSession()):
        for batch in batches:
            predict(batch)

The names are those of octoml-profile, so that changing the import is enough.  Dynamo splits
the function into graphs and the Python between them; each graph runs on each backend of the
session, in turn and never at once, and the table tells where the time goes.

    spec.py       "local/onnxrt-cpu[threads=2]"
    engines.py    the backends of this machine
    session.py    RemoteInferenceSession, and the interface of what measures
    remote.py     the backends of a machine elsewhere
    graph.py      a graph of dynamo, in the forms that the engines take
    capture.py    accelerate, remote_profile, remote_inference
    record.py     runs, grouped by the graphs that they went through
    report.py     the numbers, JSON and CSV
    table.py      the numbers as text
    page.py       the numbers as a page with bars

SPDX-License-Identifier: Apache-2.0
"""
from .capture import ProfileHandle, accelerate, remote_inference, remote_profile
from .report import Report
from .session import (Connection, InferenceError, RemoteInferenceSession,
                      get_default_backends, get_supported_backends,
                      print_supported_backends)
from .spec import BackendSpec

__all__ = ["BackendSpec", "Connection", "InferenceError", "ProfileHandle",
           "RemoteInferenceSession", "Report", "accelerate", "get_default_backends",
           "get_supported_backends", "print_supported_backends", "remote_inference",
           "remote_profile"]
