# A folder of models; servers end after three seconds.  SPDX-License-Identifier: Apache-2.0
# ingot serve models/ --http-port 8000 --grpc-port 8001 => INGOT_CACHE_DIR=cache timeout --preserve-status -s TERM 3 ingot serve models/ --http-port 0 --grpc-port 0
# ingot worker --grpc-port 8001 --python ~/venv/bin/python => INGOT_CACHE_DIR=cache timeout --preserve-status -s TERM 3 ingot worker --http-port 0 --grpc-port 0 --python /usr/bin/python3
# ingot serve relu.ingot --quiet & => (INGOT_CACHE_DIR=cache timeout -s TERM 30 ingot serve relu.ingot --quiet --http-port 0 --grpc-port 0 >ports 2>/dev/null </dev/null &) ; for i in $(seq 300); do grep -q grpc ports && break; sleep 0.1; done; sleep 1; cat ports
# ingot serve ranking/ --quiet & => (INGOT_CACHE_DIR=cache timeout -s TERM 30 ingot serve ranking/ --quiet --http-port 0 --grpc-port 0 >ports 2>/dev/null </dev/null &) ; for i in $(seq 300); do grep -q grpc ports && break; sleep 0.1; done; sleep 1; cat ports
# ingot serve shadowed/ --quiet & => (INGOT_CACHE_DIR=cache timeout -s TERM 30 ingot serve shadowed/ --quiet --loops 1 --http-port 0 --grpc-port 0 >ports 2>/dev/null </dev/null &) ; for i in $(seq 300); do grep -q grpc ports && break; sleep 0.1; done; sleep 1; cat ports
# ingot serve relu.ingot --quiet --capture calls --capture-every 1 & => (INGOT_CACHE_DIR=cache timeout -s TERM 30 ingot serve relu.ingot --quiet --loops 1 --capture calls --capture-every 1 --http-port 0 --grpc-port 0 >ports 2>/dev/null </dev/null &) ; for i in $(seq 300); do grep -q grpc ports && break; sleep 0.1; done; sleep 1; cat ports
# curl -s 127.0.0.1:8000/metrics => sleep 2; curl -sS --fail $(head -n 1 ports)/metrics
# curl -s 127.0.0.1:8000 => curl -sS --fail --retry 20 --retry-all-errors --retry-delay 1 $(head -n 1 ports)
# --tls-cert server.pem --tls-key server.key --token-file tokens => --tls-cert server.pem --tls-key server.key --token-file tokens --http-port 0 --grpc-port 0
# ingot serve models/ --address => INGOT_CACHE_DIR=cache timeout --preserve-status -s TERM 3 ingot serve models/ --address
mkdir -p models/dlrm/3
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.pem \
    -days 2 -subj /CN=localhost 2>/dev/null
echo one >tokens
cat >relu.ig <<'MODEL'
module @m {
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y") {
    %0 = relu %x : f32[B, 4]
    ret %0
  }
}
MODEL
ingot compile relu.ig -q -o models/dlrm/3/model.ingot
mkdir -p ranking/features/1 ranking/ranker/1 shadowed/relu/1 shadowed/relu/2
cat >ranker.ig <<'MODEL'
module @ranker {
  graph @main(%y: f32[B, 4]) -> (f32[B, 4] "z") {
    %0 = add %y, %y : f32[B, 4]
    ret %0
  }
}
MODEL
ingot compile ranker.ig -q -o ranking/ranker/1/model.ingot
cp models/dlrm/3/model.ingot ranking/features/1
cp models/dlrm/3/model.ingot shadowed/relu/1
cp models/dlrm/3/model.ingot shadowed/relu/2
echo '{"ingot": {"script": "features.lua", "then": "ranker"}}' >ranking/features/config.json
cat >ranking/features/features.lua <<'LUA'
local ingot = require "ingot"
function pre(inputs)
  if #inputs.words == 0 then error("no words", 0) end
  local x = ingot.tensor("f32", {1, 4})
  for i = 1, math.min(4, #inputs.words) do x[i] = #inputs.words[i] end
  return { x = x }
end
LUA
echo '{"version_policy": {"specific": {"versions": [1, 2]}}, "ingot": {"shadow": {"version": 2}}}' \
    >shadowed/relu/config.json
