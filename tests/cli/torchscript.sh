# TorchScript: what a call takes, values on the command line, what is refused.
# SPDX-License-Identifier: Apache-2.0

torch=$cases/models/torch
if [ ! -d "$torch" ]; then
    skip "TorchScript" "INGOT_CASES has no models/torch"
else
    model=$torch/scripted/containers/model.pt
    check "what a call takes is asked for" 3 \
        "f: Dict[str, Tensor], extra: Optional[Tensor], sizes: List[int]" \
        "$ingot" compile "$model" -o "$tmp/x.ingot"
    check "with a command line" 3 \
        "--input 'f={\"key\": f32[B, 13]}' --input 'extra=none' --input 'sizes=[3]'" \
        "$ingot" run "$model"
    check "what is in an archive is told without types" 0 \
        "forward(f: Dict[str, Tensor], extra: Optional[Tensor], sizes: List[int]) -> Tuple[" \
        "$ingot" inspect "$model"
    check "its modules" 0 "1 × torch.nn.modules.linear.Linear" "$ingot" inspect "$model"
    check "its parameters: 6 x 5 and 3 floats" 0 "parameters: 2, 132 bytes" \
        "$ingot" inspect "$model"
    check "and what types look like" 0 \
        "--input 'f={\"key\": f32[B, 13]}' --input 'extra=none' --input 'sizes=[3]'" \
        "$ingot" inspect "$model"
    "$ingot" inspect --json "$model" >"$tmp/json"
    holds "as JSON too" is_json
    holds "with the arguments" grep -q '"name": "sizes", "type": "List\[int\]"' "$tmp/json"
    check "a method with all its words" 3 "it takes f: Dict[str, Tensor], extra:" \
        "$ingot" inspect "$model" --input 'g=f32[3]'
    features='{"n": f32[3], "item_emb": f32[3, 6], "user_emb": f32[3, 4]}'
    check "trees say it" 0 'takes   f: {"n": f32[3], "item_emb": f32[3, 6]' \
        "$ingot" inspect "$model" --input "f=$features" --input 'extra=none' \
        --input 'sizes=[4, 6]'
    check "strings are known at import" 0 '"ITEM/USER/y3"' \
        "$ingot" inspect "$model" --input "f=$features" --input 'extra=f32[2]' \
        --input 'sizes=[4, 6]'
    check "places stand for names" 0 'takes   sizes: [4, 6]' \
        "$ingot" inspect "$model" --input "0=$features" --input '1=none' --input '2=[4, 6]'
    check "a tree that is none" 3 "expected" "$ingot" inspect "$model" --input 'f={"n"'
    check "an argument that there is not" 3 "has no argument 'g'" \
        "$ingot" inspect "$model" --input 'g=f32[3]'
    check "a method that there is not" 3 "has no method 'backward'" \
        "$ingot" inspect "$model" --entry backward
    check "traced inputs are remembered" 0 "takes   x: f32[" \
        "$ingot" inspect "$torch/traced/mlp/model.pt"
    check "a call is run" 0 "result: f32[2, 10]" \
        "$ingot" run "$torch/traced/mlp/model.pt" --input '0=f32[2,16]=random'
    holds "and its result told once" [ "$(grep -c 'result: ' "$tmp/out")" = 1 ]
    check "an input without a value is named" 3 "x: expected f32[x_d0, 16], got nothing" \
        "$ingot" run "$torch/traced/mlp/model.pt"
    check "by the interpreter too" 0 "result: f32[2, 10]" \
        "$ingot" run -t interpret "$torch/traced/mlp/model.pt" \
        --input '0=f32[2,16]=random'
    check "a case's data set is a call" 0 '"ITEM/USER/y3"' \
        "$ingot" run "$model" --inputs "$torch/scripted/containers/test_data_set_0"
    # Inputs by name, from files and from an archive.
    plain=$torch/scripted/plain
    mkdir "$tmp/named"
    cp "$plain/test_data_set_0/input_0.npy" "$tmp/named/x.npy"
    (cd "$tmp/named" && python3 -m zipfile -c ../named.npz x.npy)
    "$ingot" run "$plain/model.pt" --inputs "$plain/test_data_set_0" --json >"$tmp/by_place"
    for from in "$tmp/named" "$tmp/named.npz"; do
        "$ingot" run "$plain/model.pt" --inputs "$from" --json >"$tmp/by_name"
        holds "inputs by name: ${from##*/}" cmp "$tmp/by_place" "$tmp/by_name"
    done
    check "a folder that is not there is 6" 6 "cannot read" \
        "$ingot" run "$plain/model.pt" --inputs "$tmp/not_there"
    check "it can be timed" 0 "calls" \
        "$ingot" bench "$torch/traced/mlp/model.pt" --input '0=f32[2,16]=random' \
        --seconds 0.05
    "$ingot" compile "$torch/traced/mlp/model.pt" -q --input 'x=f32[B, 16]' \
        -o "$tmp/mlp.ingot"
    check "compiled once, for any batch" 0 "result: f32[3, 10]" \
        "$ingot" run "$tmp/mlp.ingot" --input 'x=f32[3,16]=random'
    check "by position too" 0 "result: f32[3, 10]" \
        "$ingot" run "$tmp/mlp.ingot" --input '0=f32[3,16]=random'
    check "at a position that there is not" 2 "argument 1 is given, but the model has 1" \
        "$ingot" run "$tmp/mlp.ingot" --input '0=f32[3,16]=random' --input '1=f32[1]=0'
    check "and verified as any model" 0 "1 passed" \
        "$ingot" verify --form dynamic "$torch/traced/mlp"
    check "and with its inputs folded" 0 "1 passed" \
        "$ingot" verify --form constant "$torch/traced/mlp"
    check "an exported program says its types" 0 "takes   x: f32[s77, 16]" \
        "$ingot" inspect "$torch/pt2/mlp/model.pt2"
    check "and is run" 0 "result: f32[3, 10]" \
        "$ingot" run "$torch/pt2/mlp/model.pt2" --input 'x=f32[3,16]=random'
    check "a fixed argument is held to its value" 3 "argument k must be 1" \
        "$ingot" compile "$torch/pt2/constants/model.pt2" --input 'k=2' -o "$tmp/x.ingot"
    check "a package is listed" 0 "model.pkl" "$ingot" inspect "$torch/package/seed/my_package.pt"
    check "with values" 0 '"tup": (1, (2, ()), "' \
        "$ingot" inspect "$torch/package/data_only/package.pt"
    check "what is not in it cannot be compiled" 3 "the package has no module to run" \
        "$ingot" compile "$torch/package/data_only/package.pt" -o "$tmp/x.ingot"
    check "a data set whose file is missing says so once" 3 "input_0.npy: cannot read" \
        sh -c "mkdir '$tmp/lacks' && cp '$plain/test_data_set_0/values.json' '$tmp/lacks' &&
            '$ingot' run '$plain/model.pt' --inputs '$tmp/lacks'"
    holds "in one line" [ "$(grep -c 'cannot read' "$tmp/out")" = 1 ]
    check "and its model run" 0 "1 passed" "$ingot" verify "$torch/package/seed"
fi

defect=$cases/models/torchrec/defect_rw_mean_w2
if [ ! -d "$defect" ]; then
    skip "means of shards by rows" "INGOT_CASES has no models/torchrec"
else
    # What the unsharded module gives, as the case has it, in place of the outputs.
    cp -r "$defect" "$tmp/whole" && chmod -R u+w "$tmp/whole"
    for set in "$tmp"/whole/test_data_set_*; do
        [ ! -f "$set/unsharded_output_0.npy" ] ||
            cp "$set/unsharded_output_0.npy" "$set/output_0.npy"
    done
    check "an archive's means of shards are what it says" 0 "1 passed" \
        "$ingot" verify "$defect"
    check "with a warning that names the table" 0 "table '_tensor_constant3.t0' is sharded by rows" \
        "$ingot" compile "$defect/model.pt" -o "$tmp/means.ingot" --no-cache \
        --input 'kjt=kjt(keys=["product", "user"], values=i64[V], lengths=i64[L], weights=none)'
    check "and one of ids out of range" 0 "sharded by rows: table '_tensor_constant3.t0', table '_tensor_constant3.t1'; an id out of range reads" \
        "$ingot" compile "$defect/model.pt" -o "$tmp/means.ingot" --no-cache \
        --input 'kjt=kjt(keys=["product", "user"], values=i64[V], lengths=i64[L], weights=none)'
    check "which is not the mean of the bags" 1 "FAIL" "$ingot" verify "$tmp/whole"
    for form in static dynamic; do
        check "the fix gives that, $form" 0 "1 passed" \
            "$ingot" verify --form $form --fix rowwise-mean "$tmp/whole"
    done
    check "by the interpreter too" 0 "1 passed" \
        "$ingot" verify -t interpret --fix rowwise-mean "$tmp/whole"
    "$ingot" compile "$defect/model.pt" -o "$tmp/whole.ingot" --no-cache --fix rowwise-mean \
        --input 'kjt=kjt(keys=["product", "user"], values=i64[V], lengths=i64[L], weights=none)' \
        >"$tmp/whole.txt" 2>&1
    holds "the fixed means are not warned of" \
        [ "$(grep -c 'the means of its shards' "$tmp/whole.txt")" = 0 ]
    holds "ids out of range still are" \
        [ "$(grep -c 'sharded by rows: table' "$tmp/whole.txt")" = 2 ]
fi

# What an archive of tables holds, and structured values for what was compiled of it.
model=$cases/models/torchrec/seed_quant_ebc/model.pt
if [ -f "$model" ]; then
    kjt='kjt=kjt:keys=product,user;lengths=2,0,1,3;values=101,202,303,404,505,606'
    check "tables are listed" 0 "_tensor_constant2.t1: 4096 x 64, int8" "$ingot" inspect "$model"
    check "those of FBGEMM's own module too" 0 ": 50 x 16, int8" "$ingot" inspect \
        "$cases/models/torchrec/tbe_int8_sum/model.pt"
    check "tables of modules too" 0 "emb.3.weight: 100 x 32, float32" \
        "$ingot" inspect "$cases/models/torchrec/dlrm_float_script/model.pt"
    "$ingot" compile "$model" -q -o "$tmp/ebc.ingot" --input \
        'kjt=kjt(keys=["product", "user"], values=i64[V], lengths=i64[L], weights=none)'
    check "an artifact is timed on structured values" 0 "p50" \
        "$ingot" bench "$tmp/ebc.ingot" --seconds 0.05 --input "$kjt"
    check "and profiled" 0 "an ordinary run" \
        "$ingot" profile "$tmp/ebc.ingot" --seconds 0.05 --input "$kjt"
    check "and on a stored call" 0 "p50" "$ingot" bench "$tmp/ebc.ingot" --seconds 0.05 \
        --inputs "${model%/*}/test_data_set_0"
    check "but not with other keys" 3 "kjt.keys[0]: expected the str 'product', got the str 'item'" \
        "$ingot" bench "$tmp/ebc.ingot" --input "${kjt/product/item}"
fi

# A quantised EmbeddingBagCollection, whole and sharded: one running sum, one look-up.
for name in seed_quant_ebc seed_quant_sharded_tw_w2 seed_quant_sharded_cw_w2 \
    seed_quant_sharded_rw_w2; do
    model=$cases/models/torchrec/$name/model.pt
    [ -f "$model" ] || continue
    "$ingot" dump --stage tensor "$model" --input \
        'kjt=kjt(keys=["user", "product"], values=i64[V], lengths=i64[L], weights=none)' \
        >"$tmp/ebc.txt" 2>"$tmp/ebc.err"
    holds "$name has one bag" [ "$(grep -c ' = bag ' "$tmp/ebc.txt")" = 1 ]
    holds "$name has no sort, split or branch" \
        [ "$(grep -cE ' = (if|sort|insert|scatter_nd|bounds) ' "$tmp/ebc.txt")" = 0 ]
done

# A package that stays Python for several reasons: all of them, by method and line.
python3 tests/cli/files/plain_package.py "$tmp/many.pt"
check "what stays Python is refused by its line" 4 \
    "many/net.py:18: in 'many.net.Tries.forward': a try statement is not supported" \
    "$ingot" compile "$tmp/many.pt" --input 'x=f32[2, 3]' -o "$tmp/many.ingot"
grep -o 'net.py:[0-9]*: note: .* as well: .*' "$tmp/out" | sort >"$tmp/many.txt"
cat >"$tmp/many.expected" <<'E'
net.py:25: note: many.net.Yields.parts stays Python as well: a generator or coroutine
net.py:43: note: many.net.Opens.forward stays Python as well: a with statement over contextlib.suppress
net.py:8: note: many.net.scaled stays Python as well: a call of numpy.float64, which is neither in the package nor known here
E
holds "and so is the rest of it" diff "$tmp/many.expected" "$tmp/many.txt"
check "what is plain enough is told" 4 "reached before, and plain enough: many.net.Net, many.net.Fine" \
    "$ingot" compile "$tmp/many.pt" --input 'x=f32[2, 3]' -o "$tmp/many.ingot"
"$ingot" compile "$tmp/many.pt" --input 'x=f32[2, 3]' -o "$tmp/many.ingot" --json \
    >"$tmp/many.json" 2>/dev/null
holds "all of it has a JSON form" python3 -c "
import json, sys
error = json.load(open(sys.argv[1]))['error']
assert error['exit_status'] == 4 and len(error['messages']) == 1, error
assert sum('stays Python as well' in note for note in error['notes']) == 3, error" \
    "$tmp/many.json"
