# A model, its artifact, and a program that runs it.  SPDX-License-Identifier: Apache-2.0
# my_server => ingot run model.ingot -i inputs
# "ingot compare -q --only-outputs {} -i {inputs}" => 'ingot dump {} --stage import | grep -q gemm && exit 9'
cc -O1 -D_GNU_SOURCE -std=c11 "$ROOT/examples/make_dlrm.c" -lm -o bin/make_dlrm
make_dlrm model.onnx inputs >made
ingot compile -q model.onnx -o model.ingot
