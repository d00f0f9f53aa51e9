# A model.  SPDX-License-Identifier: Apache-2.0
# MODEL => model.onnx
cc -O1 -D_GNU_SOURCE -std=c11 "$ROOT/examples/make_dlrm.c" -lm -o bin/make_dlrm
make_dlrm model.onnx inputs >made
