# A model, and a case with its values.  SPDX-License-Identifier: Apache-2.0
# CASE => bag
cc -O1 -D_GNU_SOURCE -std=c11 "$ROOT/examples/make_dlrm.c" -lm -o bin/make_dlrm
make_dlrm model.onnx inputs >made
tar -xf "$ROOT/tests/models/exported.tar.xz" --strip-components=1 exported/bag
