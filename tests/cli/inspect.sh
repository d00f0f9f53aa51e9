# What became of the nodes of a model.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/chain.ig" <<'END'
module @chain {
  graph @main(%x: f32[B, 8], %y: f32[8, 4]) -> (f32[B, 4] "z") {
    %0 = matmul %x, %y : f32[B, 4] loc {node = "product", op = "MatMul", number = 1}
    %1 = const {value = f32[] 0.5} : f32[] loc {node = "half", op = "Constant", number = 2}
    %2 = neg %1 : f32[] loc {node = "minus", op = "Neg", number = 3}
    %3 = add %0, %2 : f32[B, 4] loc {node = "sum", op = "Add", number = 4}
    %4 = exp %x : f32[B, 8] loc {node = "unused", op = "Exp", number = 5}
    %5 = relu %3 : f32[B, 4] loc {node = "above", op = "Relu", number = 6}
    ret %5
  }
}
END
check "an artifact knows what its steps come from" 0 "" \
    "$ingot" compile "$tmp/chain.ig" -o "$tmp/chain.ingot"
holds "each step and each node" python3 tests/cli/sources.py "$tmp/chain.ingot" 6
unzip -p "$tmp/chain.ingot" sources.json >"$tmp/sources.json"
for node in product:step minus:step sum:step above:step unused:removed; do
    holds "the fate of ${node%:*}" \
        grep -q "\"${node%:*}\".*\"fate\": \"${node#*:}\"" "$tmp/sources.json"
done

cat >"$tmp/keyed.ig" <<'END'
module @keyed {
  weight @t : f32[8, 4] = splat(1)
  graph @main(%v: i64[V], %l: i64[B]) -> (f32[B, 4] "y") {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[B + 1]
    %1 = slice %0 {starts = [0], sizes = [B]} : i64[B]
    %2 = bag @t, %v, %1 {operands = [1], pool = [sum], last = [ids]} : f32[B, 4]
    ret %2
  }
}
END
"$ingot" compile "$tmp/keyed.ig" -q -o "$tmp/keyed.ingot"
check "inspect tells what inputs are along the batch" 0 "l: key_lengths, of v, 1 a row" \
    "$ingot" inspect "$tmp/keyed.ingot"
check "in JSON, too" 0 '"role": "key_values", "partner": "l"' \
    "$ingot" inspect "$tmp/keyed.ingot" --json
sed -i 's/ret %2/ret %2, %l/; s/-> (f32\[B, 4\] "y")/-> (f32[B, 4] "y", i64[B] "m")/' "$tmp/keyed.ig"
"$ingot" compile "$tmp/keyed.ig" -q -o "$tmp/keyed.ingot"
check "and where that is not known" 0 "along the batch: not known" \
    "$ingot" inspect "$tmp/keyed.ingot"

check "strip removes that" 0 "" "$ingot" strip "$tmp/chain.ingot" -o "$tmp/bare.ingot"
holds "and nothing else" sh -c "unzip -Z1 '$tmp/bare.ingot' >'$tmp/entry_names' &&
    unzip -Z1 '$tmp/chain.ingot' | grep -v sources.json | cmp - '$tmp/entry_names'"
holds "it is smaller" test "$(stat -c %s "$tmp/bare.ingot")" -lt "$(stat -c %s "$tmp/chain.ingot")"
holds "and sound" "$ingot" inspect --check "$tmp/bare.ingot"
for form in chain bare; do
    "$ingot" run "$tmp/$form.ingot" --input 'x=f32[2,8]=3' --input 'y=f32[8,4]=1' \
        -o "$tmp/$form.npz" >/dev/null 2>&1
done
holds "the results are the same" cmp "$tmp/chain.npz" "$tmp/bare.npz"
check "strip in place" 0 "" "$ingot" strip "$tmp/chain.ingot"
holds "gives the same" cmp "$tmp/chain.ingot" "$tmp/bare.ingot"
check "strip takes artifacts" 3 "not an artifact" "$ingot" strip "$tmp/chain.ig"
check "which are there" 6 "cannot read" "$ingot" strip "$tmp/no_such.ingot"

# Given models: a step without a name, or a node without a fate, is a defect.
found=0
for model in "$cases"/models/onnx/*/model.onnx "$cases"/models/torchrec/dlrm_*/model.pt; do
    [ -f "$model" ] || continue
    "$ingot" compile "$model" -t cpu:v3 --no-cache -q -o "$tmp/given.ingot" \
        >/dev/null 2>&1 || continue # not every model compiles
    found=$((found + 1))
    holds "sources of $(basename "$(dirname "$model")")" \
        python3 tests/cli/sources.py "$tmp/given.ingot"
done
if [ -d "$cases/models/onnx" ]; then
    holds "of at least 20 models ($found)" test "$found" -ge 20
else
    skip "sources of given models" "no $cases/models"
fi
dlrm=$cases/models/onnx/dlrm_criteo_legacy/model.onnx
if [ -f "$dlrm" ]; then
    check "a DLRM as a page" 0 "" "$ingot" dump "$dlrm" --format html -q -o "$tmp/dlrm.html"
    holds "has less than 1 MB" test "$(stat -c %s "$tmp/dlrm.html")" -lt 1000000
    "$ingot" dump "$dlrm" --stage plan --format json -q -o "$tmp/dlrm.json"
    holds "with each pass and the code of each kernel" \
        python3 tests/cli/page.py "$tmp/dlrm.html" "$tmp/dlrm.json" 15
fi
minilm=$cases/models/onnx/minilm/model.onnx
if [ -f "$minilm" ]; then
    cp "$minilm" "$tmp/minilm.onnx"
    truncate -s 200M "$tmp/model.safetensors" # zeros: no page shows weights
    check "MiniLM as a page" 0 "" "$ingot" dump "$tmp/minilm.onnx" --format html -q \
        -o "$tmp/minilm.html"
    holds "has less than 3 MB" test "$(stat -c %s "$tmp/minilm.html")" -lt 3000000
fi

# Parameters keep their mark from every kind of file.
for file in fault/cases/tower.onnx:@w docs/models/linear.pt:@a.bias docs/models/linear.pt2:@a.weight; do
    check "${file#*:} is a parameter" 0 "" "$ingot" dump "tests/${file%:*}" \
        --stage import $([[ $file = *.pt:* ]] && echo --input x=f32[2,16]) \
        -o "$tmp/parameters.ig"
    holds "by its mark" grep -q "^  weight ${file#*:} : .* {parameter}$" "$tmp/parameters.ig"
done

# What a model holds.
check "inspect counts ops" 0 "1  relu" "$ingot" inspect "$tmp/chain.ig"
check "and names open extents" 0 "B               0" "$ingot" inspect "$tmp/chain.ig"
check "as tables too" 0 "| 1 | relu |" "$ingot" inspect "$tmp/chain.ig" --markdown

# Extents that must be equal have one name; where others disagree, inputs are named.
cat >"$tmp/named.ig" <<'END'
module @named {
  symbol batch {origin = "dim 0 of input 'x'"}
  symbol batch2 {origin = "dim 0 of input 'y'"}
  symbol rows {origin = "dim 0 of input 'z'"}
  graph @main(%x: f32[batch, 3], %y: f32[batch2, 3], %z: f32[rows, 3]) -> (f32[batch2, 3] "a", f32[bcast(batch, rows), 3] "b") {
    guard eq(batch, batch2) "x and y disagree"
    guard eq(bcast(batch, rows), bcast(rows, batch)) "they do not broadcast"
    %0 = add %x, %y : f32[batch2, 3]
    %1 = add %x, %z : f32[bcast(batch, rows), 3]
    ret %0, %1
  }
}
END
check "an input has the file's own name of its extent" 0 "input   y: f32[batch, 3]" \
    "$ingot" inspect "$tmp/named.ig"
check "an output, too" 0 "output  a: f32[batch, 3]" "$ingot" inspect "$tmp/named.ig"
check "in JSON" 0 '{"name": "a", "type": "f32[batch, 3]"}' \
    "$ingot" inspect "$tmp/named.ig" --json
"$ingot" compile "$tmp/named.ig" -o "$tmp/named.ingot" -q
check "and in artifacts" 0 "input   y: f32[batch, 3]" "$ingot" inspect "$tmp/named.ingot"
for target in cpu interpret; do
    check "$target names the inputs that disagree" 3 \
        "they do not broadcast; they follow from dim 0 of input 'x', dim 0 of input 'z'" \
        "$ingot" run "$tmp/named.ig" -t $target --input 'x=f32[2,3]=0' \
        --input 'y=f32[2,3]=0' --input 'z=f32[3,3]=0'
done
cat >"$tmp/refused.ig" <<'END'
module @refused {
  graph @main(%x: i64[N], %y: i64[M], %o: i64[5], %r: i64[1]) -> (i64[N] "a", i64[M] "b", i64[N] "c") {
    %0, %1, %2 = bounds %x, %o, %r : i64[N], i64[5], i64[1]
    %3, %4, %5 = bounds %y, %o, %r : i64[M], i64[5], i64[1]
    %6, %7, %8 = bounds %0, %4, %r : i64[N], i64[5], i64[1]
    ret %0, %3, %6
  }
}
END
check "everything that would not compile is told" 0 "'bounds' cannot be compiled yet" \
    "$ingot" inspect "$tmp/refused.ig"
cp "$tmp/out" "$tmp/told"
holds "all at once" sh -c "[ \$(grep -c 'cannot be compiled yet' '$tmp/told') = 3 ]"
"$ingot" inspect "$tmp/refused.ig" --json >"$tmp/json"
holds "JSON says so too" python3 -c '
import json, sys
facts = json.load(open(sys.argv[1]))["facts"]
assert not facts["compiles"] and len(facts["refused"]) >= 2, facts
assert {"name": "bounds", "count": 3} in facts["ops"], facts' "$tmp/json"
"$ingot" compile "$tmp/chain.ig" -o "$tmp/chain.ingot" -q
check "an artifact tells fates" 0 "5 step, 0 view, 0 folded, 2 removed" \
    "$ingot" inspect "$tmp/chain.ingot"
check "info sends models there" 2 "ingot inspect $tmp/chain.ig" "$ingot" info "$tmp/chain.ig"

# Modules that nodes are of: from each exporter's own words.
sources_name_module() {
    "$ingot" compile "$2" -q --no-cache -o "$tmp/module.ingot" "${@:4}" >/dev/null 2>&1
    unzip -p "$tmp/module.ingot" sources.json >"$tmp/sources.json"
    holds "$1: sources name modules" grep -q "\"scope\": \"$3\"" "$tmp/sources.json"
}
python3 tests/cli/files/modules.py onnx "$tmp/scoped.onnx"
sources_name_module "ONNX" "$tmp/scoped.onnx" layers.0.act
check "dumps draw their boxes" 0 '"sources": ["layers.0/act/the_node"]' \
    "$ingot" dump "$tmp/scoped.onnx" --stage plan --format json
check "Model Explorer too" 0 '"namespace": "layers.0/act"' \
    "$ingot" dump "$tmp/scoped.onnx" --stage import --format model-explorer
"$ingot" profile "$tmp/scoped.onnx" -q --seconds 0.01 --folded "$tmp/folded" >/dev/null 2>&1
holds "and flame graphs" grep -q "^model;layers.0;act;the_node;" "$tmp/folded"
tar -C "$tmp" -xf tests/models/exported.tar.xz exported/bag
python3 tests/cli/files/modules.py pt2 "$tmp/exported/bag/model.pt2" "$tmp/scoped.pt2"
sources_name_module "exported programs" "$tmp/scoped.pt2" layers.1.bag
dcn=$cases/models/torchrec/dlrm_dcn_float/model.pt
if [ -f "$dcn" ]; then
    sources_name_module "TorchScript" "$dcn" '[a-z_]*\.[a-z_.0-9]*' \
        --input 'dense_features=f32[B, 13]' --input \
        'sparse_features=kjt(keys=["f1", "f2"], values=i64[V], lengths=i64[L], weights=none)'
else
    skip "modules of TorchScript" "no $dcn"
fi
sed 's/node = "product", op/node = "product", scope = "a.0.b", op/' "$tmp/chain.ig" >"$tmp/scoped.ig"
check "text has them as well" 0 '"sources": ["a.0/b/product"]' \
    "$ingot" dump "$tmp/scoped.ig" --stage import --format json

# The page that draws a graph, and what other viewers read.
"$ingot" dump "$tmp/chain.ig" --stage import --format json >"$tmp/dump.json"
check "dump makes a page" 0 "" \
    "$ingot" dump "$tmp/chain.ig" --stage import --format html -o "$tmp/page.html"
holds "of the same data" python3 tests/cli/page.py "$tmp/page.html" "$tmp/dump.json"
check "ops name their sources" 0 '"sources": ["product"]' cat "$tmp/dump.json"
"$ingot" dump "$tmp/chain.ig" --stage plan --format json >"$tmp/dump.json"
check "fused ones all of them" 0 '"sources": ["product", "half", "minus", "sum", "above"]' \
    cat "$tmp/dump.json"
cp "$tmp/dump.json" "$tmp/plan.json"
check "a page of all stages" 0 "" "$ingot" dump "$tmp/chain.ig" --format html -o "$tmp/all.html"
holds "has passes and kernels" python3 tests/cli/page.py "$tmp/all.html" "$tmp/dump.json" 4
check "how far is asked for" 0 "" \
    "$ingot" dump "$tmp/chain.ig" --stage plan --format html -o "$tmp/plan.html"
check "pages of other stages are not known" 3 "a page has no stage 'cuda'" \
    "$ingot" dump "$tmp/chain.ig" --stage cuda --format html
cat >"$tmp/profile.json" <<'END'
{"steps": [{"step": 0, "name": "dot_add_relu", "kind": "launch", "seconds": 4e-06,
 "p95_seconds": 5e-06, "flops": 64, "bytes": 192, "lines": 0, "limit_seconds": 1e-06,
 "bound": "stream", "more": ["</script>"]}]}
END
check "a page with a profile" 0 "" "$ingot" dump "$tmp/chain.ig" -t cpu:v3 --stage plan --format html \
    --profile "$tmp/profile.json" -o "$tmp/heat.html"
check "a profile writes the page at once" 0 "" "$ingot" profile "$tmp/chain.ig" -t cpu:v3 -q \
    --input 'y=f32[8,4]=1' --seconds 0.01 --html "$tmp/profiled.html"
holds "with its times" "$python" tests/cli/page.py "$tmp/profiled.html" "$tmp/plan.json" 4
check "of models, not of artifacts" 4 "profile the model" "$ingot" profile "$tmp/chain.ingot" \
    --trust-code --input 'y=f32[8,4]=1' --seconds 0.01 --html "$tmp/profiled.html"
check "of another file" 3 "this is not a profile" "$ingot" dump "$tmp/chain.ig" --format html \
    --profile "$tmp/dump.json"
check "that is there" 6 "no_such.json" "$ingot" dump "$tmp/chain.ig" --format html \
    --profile "$tmp/no_such.json"
check "and asked for with a page" 2 "is for --format html" "$ingot" dump "$tmp/chain.ig" \
    --profile "$tmp/profile.json"
check "Model Explorer's JSON" 0 '"label": "matmul"' \
    "$ingot" dump "$tmp/chain.ig" --stage import --format model-explorer
cp "$tmp/out" "$tmp/explorer.json"
holds "has boxes and edges" python3 -c '
import json, sys
graph = json.load(open(sys.argv[1]))["graphs"][0]
ids = {node["id"] for node in graph["nodes"]}
edges = [e["sourceNodeId"] for node in graph["nodes"] for e in node["incomingEdges"]]
assert edges and set(edges) <= ids, graph' "$tmp/explorer.json"

# ONNX for viewers: a plan's launches read what others wrote.
for stage in import plan; do
    check "ONNX to look at, $stage" 0 "" \
        "$ingot" dump "$tmp/chain.ig" --stage $stage --format onnx -o "$tmp/look.onnx"
    if command -v protoc >/dev/null; then
        protoc --decode=onnx.ModelProto --proto_path=frontend/onnx/read onnx.proto \
            <"$tmp/look.onnx" >"$tmp/look.$stage"
    fi
done
if [ -s "$tmp/look.plan" ]; then
    holds "nodes, types and names are there" sh -c "grep -q 'op_type: \"relu\"' '$tmp/look.import' &&
        grep -q 'dim_param: \"B\"' '$tmp/look.import' && grep -q 'name: \"above\"' '$tmp/look.import'"
    holds "launches have what they write" python3 -c '
import re, sys
node = re.search(r"node \{\n(.*?)\n  \}\n", open(sys.argv[1]).read(), re.S)[1]
output = re.search("output: (.*)", node)[1]
assert "op_type: \"launch\"" in node and "domain: \"ingot\"" in node, node
assert node.count("    input:") == 2, node
text = open(sys.argv[1]).read()
last = text.split("  node {")[-1]
assert "input: " + output in last and "output: \"z\"" in last, last
assert "name: \"z\"" in text.split("  output {")[1], text' "$tmp/look.plan"
else
    skip "ONNX to look at" "protoc is absent"
fi

# 10,000 ops: each form within two seconds, and drawn.
"$python" - >"$tmp/long.ig" <<'END'
print("module @long {\n  graph @main(%x: f32[8]) -> (f32[8] \"y\") {")
for i in range(10000):
    before, name = f"%{i - 1}" if i else "%x", f"/net/layer.{i // 100}/op_{i}"
    print(f"    %{i} = {'relu' if i % 2 else 'neg'} {before} : f32[8] loc {{node = \"{name}\"}}")
print("    ret %9999\n  }\n}")
END
for form in dot json html model-explorer onnx; do
    holds "10,000 ops as $form within 2 s" python3 tests/cli/within.py \
        $(is_sanitized && echo 40 || echo 2) 0 "$ingot" dump "$tmp/long.ig" --stage import --format $form -o "$tmp/long.$form" -q
done
"$python" - >"$tmp/wide.ig" <<'END'
print("module @wide {\n  graph @main(%x: f32[8]) -> (f32[8] \"y\") {")
for i in range(10000):
    left = f"%{i - 100}" if i >= 100 else "%x"
    right = f"%{i - 100 - i % 7}" if i >= 110 else "%x"
    print(f"    %{i} = add {left}, {right} : f32[8] loc {{node = \"op_{i}\"}}")
print("    ret %9999\n  }\n}")
END
"$ingot" dump "$tmp/wide.ig" --stage import --format html -o "$tmp/wide.html" -q

# In a browser: by keyboard alone, with figures; what a small page shows, and where.
if command -v chromium-headless-shell chromium >/dev/null; then
    for form in long wide; do
        check "a browser draws 10,000 ops, $form" 0 \
            "frames/s" "$python" tests/cli/browser.py check "$tmp/$form.html" op_9
    done
    "$python" tests/cli/browser.py layout "$tmp/page.html" >"$tmp/layout.json"
    holds "boxes, edges and texts of a page" diff tests/cli/files/page_layout.json "$tmp/layout.json"
    "$python" tests/cli/browser.py passes "$tmp/heat.html" >"$tmp/passes.json"
    holds "what each pass changed, and heat" diff tests/cli/files/page_passes.json "$tmp/passes.json"
    check "passes by keyboard" 0 "frames/s" \
        "$python" tests/cli/browser.py check "$tmp/all.html" relu
else
    skip "a browser draws pages" "chromium is absent"
fi

# Of a model with an operator that is not known, all but its ops is told.
sed 's/Sigmoid/Sigmoix/g' "$tmp/dlrm.onnx" >"$tmp/sigmoix.onnx"
check "an unknown operator is told" 3 "Sigmoix" "$ingot" inspect "$tmp/sigmoix.onnx"
check "beside the others" 3 " Gemm" "$ingot" inspect "$tmp/sigmoix.onnx"
"$ingot" inspect "$tmp/sigmoix.onnx" --json >"$tmp/json" 2>/dev/null
"$ingot" inspect "$tmp/dlrm.onnx" --json >"$tmp/whole"
holds "as of the model without it" python3 -c '
import json, sys
odd, whole = (json.load(open(name)) for name in sys.argv[1:])
assert odd["error"]["exit_status"] == 3 and odd["facts"]["compiles"] is False
assert len(odd["error"]["messages"]) == 1, odd["error"]
assert any("Sigmoix" in text for text in odd["facts"]["refused"]), odd["facts"]["refused"]
assert [p["name"] for p in odd["inputs"]] == [p["name"] for p in whole["inputs"]]
assert odd["facts"]["opsets"] == whole["facts"]["opsets"]
assert odd["facts"]["parameters"] == whole["facts"]["parameters"], odd["facts"]
names = {o["name"].replace("Sigmoix", "Sigmoid") for o in odd["facts"]["operators"]}
assert {o["name"] for o in whole["facts"]["operators"]} <= names, names
' "$tmp/json" "$tmp/whole"
python3 tests/cli/files/modules.py odd "$tmp/exported/bag/model.pt2" "$tmp/odd.pt2"
check "a .pt2 file's too" 4 "1  mine::odd" "$ingot" inspect "$tmp/odd.pt2"
"$ingot" inspect "$tmp/odd.pt2" --json >"$tmp/json" 2>/dev/null
"$ingot" inspect "$tmp/exported/bag/model.pt2" --json >"$tmp/whole"
holds "beside inputs and weights" python3 -c '
import json, sys
odd, whole = (json.load(open(name)) for name in sys.argv[1:])
assert odd["facts"]["compiles"] is False and odd["facts"]["refused"], odd["facts"]
assert [p["name"] for p in odd["inputs"]] == [p["name"] for p in whole["inputs"]]
assert odd["facts"]["parameters"] == whole["facts"]["parameters"] != [], odd["facts"]
' "$tmp/json" "$tmp/whole"
python3 tests/cli/files/tiny_onnx.py "$tmp/unsupported.onnx" unknown
check "nor of one that is not supported" 4 "opsets ai.onnx" "$ingot" inspect "$tmp/unsupported.onnx"
