"""octoml-profile's own client, of the source that the first word names, against a worker.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys
import types

import numpy

source, address, model = sys.argv[1:]
# Its package imports torch; its client needs none.
package = types.ModuleType("octoml_profile")
package.__path__ = [str(pathlib.Path(source) / "octoml_profile")]
sys.modules["octoml_profile"] = package
from octoml_profile import client, inference_session  # noqa: E402

names = client.get_supported_backends(address, insecure=True)
backends = [str(n) for n in names if n.software_backend in ("ingot-cpu", "onnxrt-cpu")]
with client.RemoteInferenceSession(backends, server_addr=address, insecure=True) as session:
    path = pathlib.Path(model)
    session.load_model(1, [0, 1], client.MODEL_FORMAT_ONNX,
                       [inference_session.OnDiskFile(path.parent, path.name)], ["x"], ["y"])
    run = session.create_runner(1, [[0], [0]]).submit_run(
        [numpy.array([[1, -2, 3, -4]], numpy.float32)], num_repeats=5, num_warmups=1, mode=1)
    for backend, result in run().items():
        value = result.result_value
        assert value is not None, (backend, result.error_value)
        assert value.outputs[0].tolist() == [[1, 0, 3, 0]], value
        assert len(value.run_times_nanos) == 5, value
print("good")
