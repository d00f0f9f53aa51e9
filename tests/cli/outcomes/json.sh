# --json: one value on standard output for every verb and outcome.
# SPDX-License-Identifier: Apache-2.0

# one STATUS "python about told" VERB ARGUMENTS…
one() {
    local wanted=$1 claim=$2 status
    shift 2
    "$ingot" "$@" --json >"$tmp/json" 2>"$tmp/errors" </dev/null
    status=$?
    holds "status $wanted: ingot $*" [ "$status" = "$wanted" ]
    holds "and one value: ingot $* --json" python3 -c '
import json, sys
told = json.load(open(sys.argv[1]))
assert told["schema"] == 1, told
error = told.get("error", {"exit_status": 0, "messages": []})
status = int(sys.argv[2])
assert status == 1 or error["exit_status"] == status, told
assert status < 2 or error["messages"], told
assert all(m in open(sys.argv[3]).read() for m in error["messages"]), told
assert eval(sys.argv[4], {"told": told}), told
' "$tmp/json" "$wanted" "$tmp/errors" "$claim"
}

x=(--input 'x=f32[1,4]=1,-1,2,nan')
one 0 'told["outputs"][0]["data"] == [1, 0, 2, "nan"]' run "$tmp/relu.ig" "${x[@]}"
one 0 'told["output"].endswith("/y.npy")' run "$tmp/relu.ig" "${x[@]}" -o "$tmp/y.npy"
one 0 'told["artifact"].endswith("/r.ingot")' compile "$tmp/relu.ig" -o "$tmp/r.ingot"
one 0 'told["output"].endswith("/r.o")' compile "$tmp/relu.ig" --emit object -o "$tmp/r.o"
one 0 'told["output"].endswith("/r.h")' compile "$tmp/relu.ig" --emit header -o "$tmp/r.h"
one 0 'True' strip "$tmp/r.ingot"
one 0 'told["output"].endswith("/s.ingot")' strip "$tmp/r.ingot" -o "$tmp/s.ingot"
one 0 'len(told["results"]) == 2' bench "$tmp/relu.ig" --batch 1,2 --seconds 0.01
one 0 'told["steps"]' profile "$tmp/relu.ig" --seconds 0.01
one 0 'told["inputs"]' inspect "$tmp/relu.ig"
one 0 'told["inputs"]' inspect "$tmp/r.ingot"
one 0 'told["graphs"]' dump "$tmp/relu.ig"
one 0 'told["graphs"]' opt "$tmp/relu.ig" --passes dce
one 0 'told["level"]' info
one 0 'told["folder"]' cache info
one 0 'True' cache clear
one 0 'told["version"]' --version
one 1 'told["failed"] == 1' verify "$tmp/none"
one 2 'True' frob
one 2 'True' run
one 2 'True' run "$tmp/relu.ig" --frob
one 2 'True' cache frob
one 6 'True' strip "$tmp/none.ingot"
one 6 'True' replay "$tmp/none" --trust-code
one 6 'True' shard "$tmp/none.json"
one 6 'True' quantize "$tmp/none.onnx" --dynamic -o "$tmp/q.ig"
one 6 'True' reduce "$tmp/none.onnx" --check false -o "$tmp/q.onnx"
one 6 'True' compare "$tmp/none.onnx"
one 4 'True' store ping frob://x
if attempt "$ingot" store put "lmdb://$tmp/rows.mdb" t 0 1; then
    url=lmdb://$tmp/rows.mdb
    one 0 'True' store put "$url" t 1 0.5
    one 0 'told["answers"]' store ping "$url"
    one 0 'told["results"][0]["values"] == [0.5]' store get "$url" t 1
    one 1 'told["results"][1]["bytes"] is None' store get "$url" t 1 2
    one 0 'told["results"][0]["cells"] == 2' store scan "$url"
    one 0 'True' store copy "$url" "lmdb://$tmp/copy.mdb"
    one 0 'True' store erase "$url" t 1
fi
# What ranks say is in the value of the whole.
one 3 '"no embedding table" in told["error"]["messages"][0]' run "$tmp/relu.ig" --ranks 2 "${x[@]}"

# Nothing else may stand on standard output.
for option in "-o -" "--trace -" "--folded -"; do
    verb=profile
    [ "$option" != "-o -" ] || verb=run
    # shellcheck disable=SC2086
    one 2 '"standard output" in told["error"]["messages"][0]' $verb "$tmp/relu.ig" "${x[@]}" $option
done
one 2 'True' compile "$tmp/relu.ig" -o -
one 2 'True' dump "$tmp/relu.ig" --format html

"$ingot" run "$tmp/none.ig" --jso >"$tmp/json" 2>"$tmp/errors"
holds "an option that was abbreviated is the option" is_json
interrupt 0.7 "$ingot" bench "$tmp/relu.ig" --seconds 60 --json >"$tmp/json" 2>"$tmp/errors"
holds "interrupted: one value" is_json
holds "with its status" grep -q '"exit_status": 130' "$tmp/json"
