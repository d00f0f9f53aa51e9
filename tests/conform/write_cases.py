"""Writes the node cases that the installed onnx makes, in the layout of ONNX's data.

SPDX-License-Identifier: Apache-2.0

    write_cases.py FOLDER         status 77: there is no onnx
"""
import pathlib
import sys
import warnings

try:
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.loader import load_model_tests
except ImportError as error:
    print(error)
    sys.exit(77)

WRITERS = {"sequence_type": numpy_helper.from_list, "map_type": numpy_helper.from_dict,
           "optional_type": numpy_helper.from_optional}


def proto_of(value, port):
    if isinstance(value, onnx.TensorProto):
        return value
    write = WRITERS.get(port.type.WhichOneof("value"), numpy_helper.from_array)
    return write(value, port.name)


def main(folder):
    warnings.simplefilter("ignore")  # numpy's, about the values of the cases
    for case in load_model_tests(kind="node"):
        graph = case.model.graph
        for index, (inputs, outputs) in enumerate(case.data_sets):
            path = folder / case.name / f"test_data_set_{index}"
            path.mkdir(parents=True)
            for kind, values, ports in (("input", inputs, graph.input),
                                        ("output", outputs, graph.output)):
                for i, (value, port) in enumerate(zip(values, ports)):
                    proto = proto_of(value, port)
                    (path / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())
        (folder / case.name / "model.onnx").write_bytes(case.model.SerializeToString())
    print(onnx.__version__)


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]))
