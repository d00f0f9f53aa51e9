# A model with calibration data, and one with tables.  SPDX-License-Identifier: Apache-2.0
# MODEL -o OUT.ingot --quantize-tables => tables.ig -o OUT.ingot --quantize-tables
# MODEL => mlp.onnx
# DIR|x.npz => data.npz
# OUT.ig|OUT.onnx|OUT.ingot => OUT.ig
"$PYTHON" "$ROOT/tests/cli/models/layers.py" make .
cat >tables.ig <<'IG'
module @bags {
  weight @big_one : f32[3, 8] = [0, 1.3, 2, 3, 4, 5, 6, 16, 0, -1, -2, -3, -4, -5, -6, -7.5, 1, 1, 1, 1, 1, 1, 1, 1]
  weight @small : f32[2, 4] = [0, 0.5, 1, 1.5, -3, 0, 0, 3]
  graph @main(%ids: i64[N], %offsets: i64[B]) -> (f32[B, 8] "y", f32[B, 4] "z") {
    %0 = bag @big_one, %ids, %offsets {operands = [1], pool = [sum], negative = error} : f32[B, 8]
    %1 = bag @small, %ids, %offsets {operands = [1], pool = [mean], negative = error} : f32[B, 4]
    ret %0, %1
  }
}
IG
