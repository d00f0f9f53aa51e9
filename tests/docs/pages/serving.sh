# A folder of models; servers end after three seconds.  SPDX-License-Identifier: Apache-2.0
# ingot serve models/ --http-port 8000 --grpc-port 8001 => INGOT_CACHE_DIR=cache timeout --preserve-status -s TERM 3 ingot serve models/ --http-port 0 --grpc-port 0
# ingot worker --grpc-port 8001 --python ~/venv/bin/python => INGOT_CACHE_DIR=cache timeout --preserve-status -s TERM 3 ingot worker --http-port 0 --grpc-port 0 --python /usr/bin/python3
mkdir -p models/dlrm/3
cat >relu.ig <<'MODEL'
module @m {
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y") {
    %0 = relu %x : f32[B, 4]
    ret %0
  }
}
MODEL
ingot compile relu.ig -q -o models/dlrm/3/model.ingot
