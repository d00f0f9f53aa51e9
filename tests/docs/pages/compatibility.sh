# An artifact.  SPDX-License-Identifier: Apache-2.0
python3 "$ROOT/tests/cli/files/tiny_onnx.py" model.onnx twins
ingot compile model.onnx -q -o model.ingot
