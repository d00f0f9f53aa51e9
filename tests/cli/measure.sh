# bench and profile.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/product.ig" <<'END'
module @product {
  graph @main(%x: f32[B, 300], %y: f32[300, 40]) -> (f32[B, 40] "z") {
    %0 = matmul %x, %y : f32[B, 40]
    %1 = relu %0 : f32[B, 40]
    ret %1
  }
}
END
cat >"$tmp/loop.ig" <<'END'
module @loop {
  graph @main(%x: f32[1000], %n: i64[]) -> (f32[1000] "z") {
    %0 = const {value = bool[] true} : bool[]
    %1 = loop %n, %0, %x : f32[1000] (%i: i64[], %k: bool[], %y: f32[1000]) {
      %2 = add %y, %x : f32[1000]
      yield %0, %2
    }
    ret %1
  }
}
END
check "profile names each step" 0 "the runtime and the clocks" \
    "$ingot" profile "$tmp/product.ig" --batch 20 --seconds 0.02
cp "$tmp/out" "$tmp/table"
holds "and says what the machine can do" grep -q '^limits on 1 thread: fma ' "$tmp/table"
cat >"$tmp/named.ig" <<'END'
module @named {
  graph @main(%x: f32[B, 8], %y: f32[8, 4]) -> (f32[B, 4] "z") {
    %0 = matmul %x, %y : f32[B, 4] loc {node = "/top/top.0/Gemm", op = "Gemm", number = 1}
    %1 = relu %0 : f32[B, 4] loc {node = "/top/top.1/Relu", op = "Relu", number = 2}
    ret %1
  }
}
END
sed "s|/top/top.0/Gemm|/$(printf 'é%.0s' $(seq 3000))/Gemm|" "$tmp/named.ig" >"$tmp/long_names.ig"
check "with the end of a long name" 0 "ééé/Gemm + 1 more" \
    "$ingot" profile "$tmp/long_names.ig" --batch 20 --seconds 0.02
holds "which is no longer than a line" sh -c "! grep -q '.\{300\}' '$tmp/out' && iconv -f utf-8 '$tmp/out'"
check "a profile says which nodes a step comes from" 0 "/top/top.0/Gemm + 1 more" \
    "$ingot" profile "$tmp/named.ig" --batch 20 --seconds 0.02 --folded "$tmp/stacks"
holds "folded stacks are by scope" grep -qE '^model;top;top.0;Gemm;[a-z_0-9]+ [0-9]+$' "$tmp/stacks"
check "in JSON all of them" 0 '"sources": ["/top/top.0/Gemm", "/top/top.1/Relu"]' \
    "$ingot" profile "$tmp/named.ig" --batch 20 --seconds 0.02 --json
cp "$tmp/out" "$tmp/table"
holds "and the 95th percentile" grep -q '"p95_seconds": ' "$tmp/table"
check "a profile as JSON" 0 "\"steps\": [" \
    "$ingot" profile "$tmp/product.ig" --batch 20 --seconds 0.02 --json \
    --trace "$tmp/trace.json"
cp "$tmp/out" "$tmp/table"
# 2 * 20 * 300 * 40 for the product and 20 * 40 for relu; 4 bytes an element.
holds "counts arithmetic" grep -q '"flops": 480800, ' "$tmp/table"
holds "counts bytes" grep -q '"bytes": 75200, ' "$tmp/table"
holds "is JSON" python3 -c '
import json, sys
table = json.load(open(sys.argv[1]))
spent = sum(step["seconds"] for step in table["steps"])
assert 0 < spent <= table["profiled_seconds"], spent
assert table["limits"]["flops_per_second"] > 1e8
' "$tmp/table"
holds "its trace has real times" "$python" tests/cli/debug/trace.py "$tmp/table" "$tmp/trace.json" 1
check "on two threads" 0 "limits on 2 threads" \
    "$ingot" profile "$tmp/product.ig" --batch 20 --seconds 0.02 --threads 2 --sort time
check "with a trace" 0 "" "$ingot" profile "$tmp/product.ig" --batch 4000 --seconds 0.02 \
    --threads 2 --json --trace "$tmp/trace.json"
cp "$tmp/out" "$tmp/table"
holds "which has a track for each" "$python" tests/cli/debug/trace.py "$tmp/table" "$tmp/trace.json" 2
check "a loop is profiled with its body" 0 "\"kind\": \"loop\", \"depth\": 0" \
    "$ingot" profile "$tmp/loop.ig" --input n=7 --seconds 0.02 --json --trace "$tmp/trace.json"
cp "$tmp/out" "$tmp/table"
holds "whose trips lie inside it" "$python" tests/cli/debug/trace.py "$tmp/table" "$tmp/trace.json" 1
holds "whose trips are counted" grep -q '"depth": 1, "threads": 1, "calls": 7, ' "$tmp/table"
check "profile is not for the interpreter" 2 "not the interpreter" \
    "$ingot" profile "$tmp/product.ig" --target interpret
check "profile takes one batch" 2 "--batch takes a count from 1" \
    "$ingot" profile "$tmp/product.ig" --batch x
check "a trace that cannot be written" 6 "no/such/trace.json" \
    "$ingot" profile "$tmp/product.ig" --seconds 0.01 --trace "$tmp/no/such/trace.json"

check "bench gives percentiles" 0 "\"p99\": " \
    "$ingot" bench "$tmp/product.ig" --batch 1,20 --threads 1,2 --seconds 0.02 --json
cp "$tmp/out" "$tmp/table"
holds "a point for each pair" [ "$(grep -c '"p50"' "$tmp/table")" = 4 ]
holds "a point says what was measured" python3 -c '
import json, sys
for point in json.load(open(sys.argv[1]))["results"]:
    assert point["model"] == "product.ig" and point["build"] and point["level"], point
    assert len(point["cpu"]) > 3, point
' "$tmp/table"
check "the table too" 0 "product.ig, ingot 0." \
    "$ingot" bench "$tmp/product.ig" --seconds 0.02
"$ingot" bench "$tmp/product.ig" --batch 1,20 --seconds 0.02 --format markdown \
    >"$tmp/table" 2>"$tmp/out"
holds "Markdown has a head, a rule and two rows" \
    [ "$(grep -c '^|.*|$' "$tmp/table")" = 4 ]
holds "and nothing between them" [ "$(sed -n '3,$p' "$tmp/table" | grep -vc '^|')" = 0 ]
cat >"$tmp/list.ig" <<'IG'
module @list {
  graph @main(%s: seq<f32[N]>, %x: f32[M]) -> (f32[K] "y") {
    %0 = seq_concat %s {axis = 0} : f32[K2]
    %1 = concat %0, %x {axis = 0} : f32[K]
    ret %1
  }
}
IG
check "bench takes lists" 0 '"sessions": 2' "$ingot" bench "$tmp/list.ig" --seconds 0.02 \
    --input 's=[[1, 2], [3]]' --input 'x=f32[1]=4' --sessions 2 --json
check "and so does profile" 0 " step  name" "$ingot" profile "$tmp/list.ig" \
    --seconds 0.02 --input 's=[[1, 2], []]' --input 'x=f32[1]=4'
check "bench runs sessions side by side" 0 "\"sessions\": 2" \
    "$ingot" bench "$tmp/product.ig" --sessions 2 --seconds 0.02 --json

# Bags: where they begin is drawn, and the batch counts rows.
cat >"$tmp/jagged.ig" <<'IG'
module @jagged {
  weight @t : f32[8, 4] = splat(1)
  graph @main(%v: i64[V], %o: i64[B]) -> (f32[B, 4] "y") {
    %0 = bag @t, %v, %o {operands = [1], pool = [sum], last = [ids]} : f32[B, 4]
    ret %0
  }
}
IG
cat >"$tmp/complete.ig" <<'IG'
module @complete {
  weight @t : f32[8, 4] = splat(1)
  graph @main(%v: i64[V], %o: i64[B]) -> (f32[B - 1, 4] "y") {
    %0 = bag @t, %v, %o {operands = [1], pool = [sum], last = [offset]} : f32[B - 1, 4]
    ret %0
  }
}
IG
cat >"$tmp/keyed.ig" <<'IG'
module @keyed {
  weight @t : f32[8, 4] = splat(1)
  graph @main(%v: i64[V], %l: i64[B]) -> (f32[B, 4] "y") {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[B + 1]
    %1 = slice %0 {starts = [0], sizes = [B]} : i64[B]
    %2 = bag @t, %v, %1 {operands = [1], pool = [sum], last = [ids]} : f32[B, 4]
    ret %2
  }
}
IG
cat >"$tmp/id.ig" <<'IG'
module @id {
  graph @main(%x: i64[N]) -> (i64[N] "y") {
    ret %x
  }
}
IG
mkdir "$tmp/keyed_in"
"$ingot" run "$tmp/id.ig" --input 'x=i64[7]=1' --outputs "$tmp/keyed_in/v.npy"
"$ingot" run "$tmp/id.ig" --input 'x=i64[3]=2,4,1' --outputs "$tmp/keyed_in/l.npy"
check "offsets are rows of the batch" 0 '"batch": 6,' "$ingot" bench "$tmp/jagged.ig" \
    --batch 6 --seconds 0.01 --json
check "of as many ids as is said" 0 '"batch": 6,' "$ingot" bench "$tmp/jagged.ig" \
    --batch 6 --dim 'V=10*batch' --seconds 0.01 --json
check "with an end, too" 0 '"batch": 6,' "$ingot" bench "$tmp/complete.ig" \
    --batch 6 --dim 'V=10*batch' --seconds 0.01 --json
check "lengths are, too" 0 '"batch": 6,' "$ingot" bench "$tmp/keyed.ig" --batch 6 \
    --seconds 0.01 --json
check "and what is given whole" 0 '"batch": 3,' "$ingot" bench "$tmp/keyed.ig" \
    --inputs "$tmp/keyed_in" --seconds 0.01 --json
check "several models share a table" 0 "$tmp/keyed.ig" "$ingot" bench "$tmp/product.ig" \
    "$tmp/keyed.ig" --batch 2 --seconds 0.01
holds "with one head" [ "$(grep -c '^model .* batch' "$tmp/out")" = 1 ]
check "or a list of points" 0 '"model": "'"$tmp/product.ig"'"' "$ingot" bench \
    "$tmp/product.ig" "$tmp/keyed.ig" --batch 2 --seconds 0.01 --json
check "ranks measure one" 2 "measure one model" "$ingot" bench "$tmp/product.ig" \
    "$tmp/keyed.ig" --ranks 2
for given in 'offsets:10 0 [0-9 ]* 10$' 'begins:10 0 [0-9 ]*$' 'lengths:10 [0-9 ]*$'; do
    "$ingot" run "$tmp/id.ig" --input "x=i64[5]=${given%% *}" >"$tmp/drawn"
    holds "${given%% *} is made" grep -q "^  ${given#* }" "$tmp/drawn"
done
holds "lengths make the whole" "$python" -c '
import sys
assert sum(map(int, open(sys.argv[1]).read().split("\n")[1].split())) == 10' "$tmp/drawn"
check "of how many is told" 3 "has no count of items after it" "$ingot" run "$tmp/id.ig" \
    --input 'x=i64[5]=offsets'

interrupt 1 "$ingot" bench "$tmp/product.ig" --batch 1,2,3 --seconds 60 -q \
    >"$tmp/table" 2>&1
holds "Ctrl-C ends a measurement with 130" [ $? = 130 ]
holds "which tells what it has" [ "$(grep -cE '^ +1 +1 +1 +[0-9]' "$tmp/table")" = 1 ]

# Register tiles: measured, and right when asked for.
check "the tiles of a product" 0 "<- the model's pick" \
    "$ingot" info --kernels 20,70,40 --seconds 0.001
check "as JSON" 0 "\"candidates\": [" \
    "$ingot" info --kernels 20,70,40 --seconds 0.001 --target cpu:v2 --json
cp "$tmp/out" "$tmp/table"
holds "with one pick" python3 -c '
import json, sys
table = json.load(open(sys.argv[1]))
tiles = table["candidates"]
assert table["shape"] == [20, 70, 40] and table["level"] == "v2", table
assert len(tiles) > 1 and sum(t["is_pick"] for t in tiles) == 1, tiles
assert len({(t["block_rows"], t["columns"]) for t in tiles}) == len(tiles), tiles
for t in tiles:
    assert t["columns"] % 16 == 0 and 1 <= t["block_rows"] <= t["rows"], t
    flops = 2 * 20 * 70 * 40
    assert abs(t["gflops"] - flops / t["seconds"] * 1e-9) <= 1e-3 * t["gflops"], t
assert tiles == sorted(tiles, key=lambda t: t["seconds"])
behind = 100 * (next(t for t in tiles if t["is_pick"])["seconds"] / tiles[0]["seconds"] - 1)
assert abs(behind - table["pick_behind_percent"]) < 0.1, table
' "$tmp/table"
check "one row, fewer columns than a panel" 0 "   1x16 " \
    "$ingot" info --kernels 1,1,1 --seconds 0.001
for shape in 1,2 0,2,3 1,-2,3 1,2,3,4 1,2,x 1,,3 99999999999999999999,1,1 65536,65536,16; do
    check "no product of $shape" 2 "--kernels takes M,K,N" "$ingot" info --kernels $shape
done
check "no kernels of the interpreter" 2 "no kernels" \
    "$ingot" info --kernels 1,2,3 --target interpret
check "nor of a model" 2 "takes no model" "$ingot" info --kernels 1,2,3 "$tmp/product.ig"
check "nor of a GPU" 4 "one level of a CPU" "$ingot" info --kernels 1,2,3 --target cuda:sm_90a
# tile ROWS COLUMNS: 37 rows, 9 panels and a part of one; whole numbers, so sums are exact.
tile() {
    sed "s/TILE/$1, $2/" >"$tmp/tile.ig" <<'END'
module @tile {
  graph @main(%i: i32[37, 21], %w: f32[10, 21, 16]) -> (f32[37, 150] "y") {
    %0 = cast %i {to = f32} : f32[37, 21]
    %1 = matmul_panels %0, %w {columns = 150, tile = [TILE]} : f32[37, 150]
    ret %1
  }
}
END
}
for size in "1 16" "2 16" "1 32" "3 16" "1 48"; do
    tile $size
    for target in cpu:v2 interpret; do
        "$ingot" run "$tmp/tile.ig" --input i=i32[37,21]=random:-9:9 --json \
            --input w=f32[10,21,16]=iota --target $target >"$tmp/tile.$target" 2>&1
    done
    holds "a tile of $size gives the same" cmp "$tmp/tile.cpu:v2" "$tmp/tile.interpret"
done
tile 14 128
check "a tile that registers do not hold" 4 "register tile" \
    "$ingot" run "$tmp/tile.ig" --input i=i32[37,21]=1 --input w=f32[10,21,16]=iota
tile 1 20
check "a tile of half a panel" 3 "tile takes rows, and columns" \
    "$ingot" run "$tmp/tile.ig" --input i=i32[37,21]=1 --input w=f32[10,21,16]=iota

# Figures that would be of something else are refused.
"$ingot" run "$tmp/relu.ig" -q --input 'x=f32[8,4]=iota' --outputs "$tmp/eight"
mkdir -p "$tmp/eight_in"
cp "$tmp/eight/y.npy" "$tmp/eight_in/x.npy"
check "values from files say the batch" 0 "\"batch\": 8," \
    "$ingot" bench "$tmp/relu.ig" --inputs "$tmp/eight_in" --seconds 0.01 --json
for verb in bench profile; do
    check "$verb: --batch beside --inputs is refused" 2 "give no --batch and no --dim" \
        "$ingot" $verb "$tmp/relu.ig" --inputs "$tmp/eight_in" --batch 1024 --seconds 0.01
    check "$verb: --dim too" 2 "give no --batch and no --dim" \
        "$ingot" $verb "$tmp/relu.ig" --inputs "$tmp/eight_in" --dim B=9 --seconds 0.01
    check "$verb: a --dim that fits nothing is refused" 2 "--dim foo=3: no open extent" \
        "$ingot" $verb "$tmp/relu.ig" --dim foo=3 --seconds 0.01
    check "$verb: an --input that fits nothing is refused" 2 "--input idz_*=1: the model has no such input" \
        "$ingot" $verb "$tmp/relu.ig" --input 'idz_*=1' --seconds 0.01
    check "$verb: a batch of a fixed model is refused" 3 "no input of the model leaves its first extent open" \
        "$ingot" $verb "$tmp/loop.ig" --batch 7 --input n=1 --seconds 0.01
    for option in --clamp-ids --torch-empty "--entry f" "--fix none"; do
        # shellcheck disable=SC2086
        check "$verb: an artifact is compiled already: $option" 2 "this is compiled already" \
            "$ingot" $verb "$tmp/dlrm.ingot" $option --seconds 0.01
    done
    check "$verb: another target too" 2 "--target has no effect on it" \
        "$ingot" $verb "$tmp/dlrm.ingot" -t cpu:v2,v3 --seconds 0.01
    "$ingot" compile "$tmp/relu.ig" -q -t cpu:v2 -o "$tmp/level.ingot"
    check "$verb: a level that it lacks" 4 "v3" \
        "$ingot" $verb "$tmp/level.ingot" -t cpu:v3 --seconds 0.01
done
check "a fixed model says its batch" 0 "\"batch\": 1000," \
    "$ingot" bench "$tmp/loop.ig" --input n=1 --seconds 0.01 --json
"$ingot" compile "$tmp/relu.ig" -q -t cpu:v2,v3 -o "$tmp/levels.ingot"
check "a level of an artifact can be chosen" 0 "\"p50\"" \
    "$ingot" bench "$tmp/levels.ingot" -t cpu:v2 --seconds 0.01 --json

# Inputs that share the name of an extent.
cat >"$tmp/twins.ig" <<'IG'
module @twins {
  graph @main(%x: f32[B, S], %y: f32[B2, S2]) -> (f32[bcast(B, B2), bcast(S, S2)] "z") {
    guard eq(bcast(B, B2), bcast(B2, B)) "the batches differ"
    guard eq(bcast(S, S2), bcast(S2, S)) "the lengths differ"
    %0 = add %x, %y : f32[bcast(B, B2), bcast(S, S2)]
    ret %0
  }
}
IG
check "one --dim sets them all" 0 "\"p50\"" \
    "$ingot" bench "$tmp/twins.ig" --dim S=64 --batch 3 --seconds 0.01 --json
check "unless one is named itself" 3 "the lengths differ" \
    "$ingot" bench "$tmp/twins.ig" --dim S=64 --dim S2=63 --batch 3 --seconds 0.01 --json

# The same in the verbs that compile: an extent's name stands for all inputs that have it.
python3 tests/cli/files/tiny_onnx.py "$tmp/twins.onnx" twins
check "both inputs are open" 0 "%z: f32[B2, S2]" "$ingot" dump "$tmp/twins.onnx" --stage import
check "--dim fixes both" 0 "%x: f32[B, 64], %z: f32[B2, 64]" \
    "$ingot" dump "$tmp/twins.onnx" --stage import --dim S=64
check "or one by itself" 0 "%x: f32[B, S], %z: f32[B2, 9]" \
    "$ingot" dump "$tmp/twins.onnx" --stage import --dim S2=9
check "and all of several" 0 "%x: f32[8, 64], %z: f32[8, 64]" \
    "$ingot" dump "$tmp/twins.onnx" --stage import --dim S=64 --dim B=8
check "beside a type that is given" 0 "%x: f32[B, 1], %z: f32[B2, 64]" \
    "$ingot" dump "$tmp/twins.onnx" --stage import --dim S=64 --input 'x=f32[B,1]'
check "a name that no input has is refused" 2 "--dim T=64: no open extent" \
    "$ingot" dump "$tmp/twins.onnx" --dim T=64
check "and what is no number" 3 "gives no number for S" \
    "$ingot" dump "$tmp/twins.onnx" --dim S=T
check "an artifact has it" 0 "" \
    "$ingot" compile "$tmp/twins.onnx" -q --dim S=64 -o "$tmp/twins.ingot"
check "as info says" 0 "z: f32[B2, 64]" "$ingot" inspect "$tmp/twins.ingot"
check "names of extents are ONNX's" 4 "give --input NAME=TYPE" \
    "$ingot" compile "$tmp/relu.ig" --dim B=3 -o "$tmp/x.ingot"
check "and not for isolated work" 2 "--isolate keeps it apart" \
    "$ingot" compile "$tmp/twins.onnx" --isolate --dim S=64 -o "$tmp/x.ingot"
