# A model of ONNX and one of torch.export.  SPDX-License-Identifier: Apache-2.0
python3 "$ROOT/tests/cli/files/tiny_onnx.py" model.onnx relu4
cp "$ROOT/tests/docs/models/linear.pt2" exported.pt2
