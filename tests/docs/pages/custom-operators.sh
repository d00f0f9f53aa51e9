# A model with an operator of its own.  SPDX-License-Identifier: Apache-2.0
python3 "$ROOT/tests/cli/files/tiny_onnx.py" hash.onnx hash
cp "$ROOT/examples/custom/hash.ig" hash.ig
cc -O2 -shared -fPIC -I"$ROOT/include" "$ROOT/examples/custom/hash.c" -o libhash.so
