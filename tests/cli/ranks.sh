# Ranks of one run: processes of this host, and of mpirun.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/bags.ig" <<'TEXT'
module @m {
  weight @net.users.weight : f32[5, 4] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
  weight @net.items.weight : f32[2, 8] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B]) {
    %0, %1, %2 = bag @net.users.weight, %ids, %off, @net.items.weight, %off, %off, @net.users.weight, %ids, %off {operands = [1, 1, 1], pool = [sum, mean, mean], negative = error}
    ret %0, %1, %2
  }
}
TEXT
cat >"$tmp/two.json" <<'TEXT'
{"world_size": 2, "tables": [
  {"name": "users", "sharding_type": "row_wise", "shards": [
    {"rank": 0, "size": [3, 4], "offset": [0, 0]}, {"rank": 1, "size": [2, 4], "offset": [3, 0]}]},
  {"name": "items", "sharding_type": "column_wise", "shards": [
    {"rank": 1, "size": [2, 3], "offset": [0, 0]}, {"rank": 0, "size": [2, 5], "offset": [0, 3]}]}]}
TEXT
given=(--input 'ids=i64[5]=1,4,3,0,2' --input 'off=i64[2]=0,1')

# The same words on standard output as $tmp/whole.
gives_the_same() {
    timeout 120 "$@" >"$tmp/got" 2>"$tmp/words" </dev/null || { cat "$tmp/words"; return 1; }
    cmp "$tmp/whole" "$tmp/got"
}

"$ingot" run -q "$tmp/bags.ig" "${given[@]}" >"$tmp/whole"
holds "two ranks give what one does" gives_the_same \
    "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/two.json" "${given[@]}"
echo '{"net.users.weight": {"sharding_types": ["row_wise"]},
  "net.items.weight": {"sharding_types": ["table_wise"]}}' >"$tmp/cut.json"
for n in 1 2 3 4 8; do
    holds "$n ranks by a plan that is chosen" gives_the_same \
        "$ingot" run -q "$tmp/bags.ig" --ranks $n "${given[@]}"
    echo "{\"world_size\": $n, \"compute_device\": \"cpu\"}" >"$tmp/top.json"
    check "a plan of tables that are cut for $n" 0 "" "$ingot" shard -q "$tmp/bags.ig" \
        --topology "$tmp/top.json" --constraints "$tmp/cut.json" -o "$tmp/plan$n.json"
    holds "$n ranks by it" gives_the_same \
        "$ingot" run -q "$tmp/bags.ig" --ranks $n --plan "$tmp/plan$n.json" "${given[@]}"
done
folder=$tmp/shared
INGOT_CACHE_DIR=$folder "$ingot" run -q "$tmp/bags.ig" --ranks 3 "${given[@]}" >/dev/null
holds "ranks that are not told otherwise share one artifact" \
    test "$(find "$folder/models" -name '*.ingot' | wc -l)" = 1

# ---- files of each rank ----

if has_numpy "files of each rank"; then
    "$python" - "$tmp" <<'TEXT'
import sys
import numpy as np
for r, ids in enumerate(([4, 1], [])):
    np.savez(f"{sys.argv[1]}/in{r}.npz", ids=np.array(ids, np.int64),
             off=np.array([0] if ids else [], np.int64))
TEXT
    holds "ranks with batches of their own, one of them empty" \
        "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/two.json" \
        --inputs "$tmp/in%r.npz" --outputs "$tmp/out%r.npz"
    holds "each gets what is its own" "$python" -c "
import sys, numpy as np
a, b = (np.load(f'{sys.argv[1]}/out{r}.npz') for r in (0, 1))
assert a['output_0'].tolist() == [[20, 22, 24, 26]], a['output_0']
assert b['output_0'].shape == (0, 4) and b['output_1'].shape == (0, 8)
" "$tmp"
fi

# ---- an artifact of each rank ----

for r in 0 1; do
    check "the program of rank $r" 0 "" "$ingot" compile -q "$tmp/bags.ig" \
        --plan "$tmp/two.json" --rank $r -o "$tmp/part$r.ingot"
done
holds "artifacts of ranks run" gives_the_same \
    "$ingot" run -q "$tmp/part%r.ingot" --ranks 2 "${given[@]}"
check "one of them has no world" 3 "this is the program of one rank" \
    "$ingot" run -q "$tmp/part1.ingot" "${given[@]}"
sed 's/weight @net.items.weight : f32\[2, 8\] = splat(2)/weight @net.items.weight : f32[2, 8] = splat(3)/' \
    "$tmp/bags.ig" >"$tmp/other.ig"
check "a program of another model" 0 "" "$ingot" compile -q "$tmp/other.ig" \
    --plan "$tmp/two.json" --rank 1 -o "$tmp/part1.ingot"
check "is found before it is run" 3 "has the program of another model or plan" \
    "$ingot" run -q "$tmp/part%r.ingot" --ranks 2 "${given[@]}"
sed 's/{"world_size"/{"communication": "bf16", "world_size"/' "$tmp/two.json" >"$tmp/narrow.json"
check "rows may travel narrow" 0 "bf16" \
    "$ingot" dump "$tmp/bags.ig" --shard "$tmp/narrow.json"
sed 's/bf16/fp4/' "$tmp/narrow.json" >"$tmp/wrong.json"
check "but not any way" 3 '"communication" must be fp32, fp16, bf16 or int8' \
    "$ingot" dump "$tmp/bags.ig" --shard "$tmp/wrong.json"

holds "the batch in chunks" gives_the_same \
    "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/two.json" --chunks 2 "${given[@]}"
for r in 0 1; do
    check "a part in chunks" 0 "" "$ingot" compile -q "$tmp/bags.ig" \
        --plan "$tmp/two.json" --rank $r --chunks 3 -o "$tmp/part$r.ingot"
done
holds "artifacts in chunks" gives_the_same \
    "$ingot" run -q "$tmp/part%r.ingot" --ranks 2 "${given[@]}"
check "as many chunks as the others" 0 "" "$ingot" compile -q "$tmp/bags.ig" \
    --plan "$tmp/two.json" --rank 1 --chunks 2 -o "$tmp/part1.ingot"
check "or it is found" 3 "all_to_all: rank" \
    "$ingot" run -q "$tmp/part%r.ingot" --ranks 2 "${given[@]}"

# ---- layers in chunks ----

if has_numpy "layers in chunks"; then
    "$python" - "$tmp" <<'TEXT'
import sys
import numpy as np
draw = np.random.default_rng(3)
def numbers(*shape):
    return np.array2string(np.round(draw.standard_normal(shape).ravel(), 3), separator=",",
                           threshold=10**6).replace("\n", "")
open(f"{sys.argv[1]}/layers.ig", "w").write(f"""module @m {{
  weight @net.users.weight : f32[9, 8] = {numbers(9, 8)}
  weight @net.items.weight : f32[7, 8] = {numbers(7, 8)}
  weight @v : f32[5, 8] = {numbers(5, 8)}
  weight @w : f32[11, 24] = {numbers(11, 24)}
  weight @bias : f32[24] = {numbers(24)}
  weight @u : f32[24, 2] = {numbers(24, 2)}
  graph @main(%x: f32[B, 5], %ids: i64[N], %off: i64[B], %ids2: i64[B, 3]) {{
    %a, %b = bag @net.users.weight, %ids, %off, @net.items.weight, %ids2 {{operands = [1, 0], pool = [mean, sum]}}
    %0 = matmul %x, @v
    %1 = relu %0
    %2 = concat %1, %a, %b {{axis = 1}}
    %3 = reshape %2 {{to = [B, 3, 8]}}
    %4 = interact %3 {{pairs = [1, 2, 5]}}
    %5 = concat %1, %4 {{axis = 1}}
    %6 = matmul %5, @w
    %7 = add %6, @bias
    %8 = relu %7
    %9 = matmul %8, @u
    %10 = softmax %9 {{axis = 1}}
    %11 = reduce %10 {{axes = [0]}}
    ret %10, %11, %1
  }}
}}
""")
for name, bags in (("some", 37), ("few", 2), ("no", 0)):
    np.savez(f"{sys.argv[1]}/{name}.npz", x=draw.standard_normal((bags, 5)).astype(np.float32),
             ids=draw.integers(0, 9, 4 * bags), off=np.arange(bags) * 4,
             ids2=draw.integers(0, 7, (bags, 3)))
TEXT
    cat >"$tmp/layers.json" <<'TEXT'
{"world_size": 3, "tables": [
  {"name": "users", "sharding_type": "table_wise", "shards": [{"rank": 1, "size": [9, 8], "offset": [0, 0]}]},
  {"name": "items", "sharding_type": "column_wise", "shards": [
    {"rank": 2, "size": [7, 4], "offset": [0, 0]}, {"rank": 0, "size": [7, 4], "offset": [0, 4]}]}]}
TEXT
    for inputs in some few no; do
        "$ingot" run -q "$tmp/layers.ig" --inputs "$tmp/$inputs.npz" >"$tmp/whole"
        for chunks in 1 2 5; do
            holds "layers in $chunks chunks of $inputs samples" gives_the_same "$ingot" run -q "$tmp/layers.ig" \
                --ranks 3 --plan "$tmp/layers.json" --chunks $chunks --inputs "$tmp/$inputs.npz"
        done
    done
fi

# ---- ranks that torchrun would start ----

"$ingot" run -q "$tmp/bags.ig" "${given[@]}" >"$tmp/whole"
as_torchrun() {
    local world=$1 rank
    shift
    for ((rank = 1; rank < world; rank++)); do
        RANK=$rank WORLD_SIZE=$world LOCAL_WORLD_SIZE=$world MASTER_ADDR=localhost \
            MASTER_PORT=$$ "$@" >/dev/null 2>&1 &
    done
    RANK=0 WORLD_SIZE=$world LOCAL_WORLD_SIZE=$world MASTER_ADDR=localhost MASTER_PORT=$$ \
        "$@"
    wait
}
as_torchrun 3 "$ingot" run -q "$tmp/bags.ig" --plan "$tmp/plan3.json" "${given[@]}" >"$tmp/got"
holds "ranks of torchrun's environment" cmp "$tmp/whole" "$tmp/got"
check "of several hosts" 4 "start them by mpirun" env RANK=0 WORLD_SIZE=4 \
    LOCAL_WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1 "$ingot" run -q "$tmp/bags.ig" "${given[@]}"
check "without an address" 3 "MASTER_ADDR is not set" env RANK=0 WORLD_SIZE=1 MASTER_PORT=1 \
    "$ingot" run -q "$tmp/bags.ig" "${given[@]}"

# ---- what goes wrong ----

check "a plan for more ranks" 3 "two.json is a plan for 2 ranks, and there are 1" \
    "$ingot" run -q "$tmp/bags.ig" --ranks 1 --plan "$tmp/two.json" "${given[@]}"
check "a plan for fewer, without a wait" 3 "two.json is a plan for 2 ranks, and there are 3" \
    timeout 50 "$ingot" run -q "$tmp/bags.ig" --ranks 3 --plan "$tmp/two.json" "${given[@]}"
if has_numpy "ids out of range"; then
    "$python" -c "
import sys, numpy as np
np.savez(f'{sys.argv[1]}/in1.npz', ids=np.array([7], np.int64), off=np.array([0], np.int64))" "$tmp"
    check "an id out of range on one rank" 3 "id 7 at position 0 is out of range: the table has 5 rows" \
        "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/two.json" --inputs "$tmp/in%r.npz"
    check "which is told to the other" 3 "all_to_all: rank 1 has failed" \
        "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/two.json" --inputs "$tmp/in%r.npz"
fi
check "a plan without ranks" 2 "--plan goes with --ranks" \
    "$ingot" run "$tmp/bags.ig" --plan "$tmp/two.json" "${given[@]}"
check "chunks without ranks" 2 "--chunks goes with --ranks" \
    "$ingot" run "$tmp/bags.ig" --chunks 2 "${given[@]}"
check "chunks without a plan" 2 "--chunks goes with --plan" \
    "$ingot" compile "$tmp/bags.ig" --chunks 2 -o "$tmp/x.ingot"
check "ranks are compiled" 2 "--ranks runs compiled programs" \
    "$ingot" run "$tmp/bags.ig" --ranks 2 --target interpret "${given[@]}"
check "no such plan" 6 "absent.json: cannot be read" \
    "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/absent.json" "${given[@]}"
# The segment has the number of the process that started the ranks.
leaves_no_segment() {
    "$@" >/dev/null 2>&1 </dev/null &
    wait $!
    [ ! -e "/dev/shm/ingot-$!" ]
}
holds "ranks leave nothing in shared memory" leaves_no_segment \
    "$ingot" run -q "$tmp/bags.ig" --ranks 2 "${given[@]}"
holds "nor do ranks that fail" leaves_no_segment \
    "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/absent.json" "${given[@]}"

# ---- MPI ----

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpi_gives NAME COMMAND…: the same with a launcher of MPI
mpi_gives() {
    local name=$1
    shift
    if ! command -v "$1" >/dev/null; then
        skip "$name gives what shm gives" "there is no $1"
        return
    fi
    holds "$name gives what shm gives" gives_the_same \
        "$@" -n 2 "$ingot" run -q "$tmp/bags.ig" --plan "$tmp/two.json" "${given[@]}"
    holds "$name, four ranks" gives_the_same \
        "$@" -n 4 "$ingot" run -q "$tmp/bags.ig" --plan "$tmp/plan4.json" "${given[@]}"
    holds "$name, the batch in chunks" gives_the_same "$@" -n 2 \
        "$ingot" run -q "$tmp/bags.ig" --plan "$tmp/two.json" --chunks 2 "${given[@]}"
    holds "$name, four ranks in chunks" gives_the_same \
        "$@" -n 4 "$ingot" run -q "$tmp/bags.ig" --plan "$tmp/plan4.json" --chunks 3 "${given[@]}"
    holds "$name, an id out of range ends all" sh -c \
        '"$@" >"$0" 2>&1; test $? != 0 && grep -q "id 9 at position 0 is out of range" "$0"' \
        "$tmp/words" timeout 120 "$@" -n 2 "$ingot" run -q "$tmp/bags.ig" \
        --plan "$tmp/two.json" --input 'ids=i64[1]=9' --input 'off=i64[1]=0'
}
mpi_gives "Open MPI" mpirun.openmpi --oversubscribe
mpi_gives "MPICH" mpirun.mpich

# ---- measuring ----

check "ranks are measured in step" 0 "samples/s" \
    "$ingot" bench "$tmp/bags.ig" --ranks 2 --plan "$tmp/two.json" --batch 1,4 --seconds 0.05 \
    --dim '*=batch'
check "by rank 0 alone" 0 '"ranks": 2' \
    "$ingot" bench "$tmp/bags.ig" --ranks 2 --batch 4 --seconds 0.05 --dim '*=batch' --json
"$ingot" bench "$tmp/bags.ig" --ranks 3 --batch 4 --seconds 0.05 --dim '*=batch' --json >"$tmp/points"
holds "in one table" "$python" -c "
import json, sys
points = json.load(open(sys.argv[1]))['results']
assert len(points) == 1 and points[0]['ranks'] == 3 and points[0]['calls'] >= 10, points
" "$tmp/points"
check "not with sessions" 2 "--ranks goes without --sessions" \
    "$ingot" bench "$tmp/bags.ig" --ranks 2 --sessions 2

# ---- plans that are wrong ----

wrong_plan() {
    sed "$3" "$tmp/two.json" >"$tmp/wrong.json"
    check "$1" 3 "$2" "$ingot" run -q "$tmp/bags.ig" --ranks 2 --plan "$tmp/wrong.json" "${given[@]}"
}
wrong_plan "shards over each other" \
    "wrong.json: plan: table 'net.users.weight': shards 0 and 1 have elements in common" \
    's/"size": \[3, 4\]/"size": [4, 4]/'
wrong_plan "rows of no shard" \
    "table 'net.users.weight': 4 of its 5 x 4 elements are in no shard" \
    's/"size": \[3, 4\]/"size": [2, 4]/'
wrong_plan "a rank beyond the last" "table 'net.users.weight': shard 0 is for rank 9; ranks are 0 to 1" \
    's/{"rank": 0, "size": \[3/{"rank": 9, "size": [3/'
wrong_plan "more rows than there are" "table 'net.users.weight': shard 1 has 9223372036854775807 rows from 3 on" \
    's/"size": \[2, 4\]/"size": [9223372036854775807, 4]/'
wrong_plan "a plan for other ranks" "wrong.json is a plan for 3 ranks, and there are 2" \
    's/"world_size": 2/"world_size": 3/'

# ---- artifacts by another plan ----

reshard=$tmp/reshard
mkdir "$reshard"
"$python" tests/cli/files/reshard_case.py "$reshard"
given=(--input 'ids=i64[6]=1,4,3,0,2,11' --input 'off=i64[2]=0,4')
"$ingot" run -q "$reshard/m.ig" "${given[@]}" >"$tmp/whole"
for r in 0 1; do
    "$ingot" compile -q "$reshard/m.ig" --plan "$reshard/two.json" --rank $r -o "$reshard/old$r.ingot"
done
mv "$reshard/m.ig" "$reshard/gone"
check "two ranks become three, without the model" 0 "new2.ingot: written" \
    "$ingot" reshard "$reshard/old%r.ingot" --plan "$reshard/three.json" -o "$reshard/new%r.ingot"
holds "nothing else is left" test "$(ls "$reshard")" = "gone
new0.ingot
new1.ingot
new2.ingot
old0.ingot
old1.ingot
three.json
two.json"
holds "which give the same" gives_the_same \
    "$ingot" run -q "$reshard/new%r.ingot" --ranks 3 "${given[@]}"
rm "$reshard/new1.ingot"
check "what is there is not made again" 0 "new2.ingot: is there already" \
    "$ingot" reshard "$reshard/old%r.ingot" --plan "$reshard/three.json" -o "$reshard/new%r.ingot"
sed '0,/{/s//{"note": 1, /' "$reshard/three.json" >"$reshard/noted.json"
touch -d 2001-01-01 "$reshard/noted.json"
check "an older file of another plan makes them anew" 0 "new2.ingot: written" \
    "$ingot" reshard "$reshard/old%r.ingot" --plan "$reshard/noted.json" -o "$reshard/new%r.ingot"
check "so does another target" 0 "new0.ingot: written" \
    "$ingot" reshard "$reshard/old%r.ingot" --plan "$reshard/noted.json" -t cpu:v2 -o "$reshard/new%r.ingot"
check "whose code it has" 0 '"levels": "v2"' "$ingot" inspect --json "$reshard/new0.ingot"
cp -p "$reshard/old0.ingot" "$reshard/kept" && cp -p "$reshard/kept" "$reshard/old0.ingot"
check "and a source that was written again with its old time" 0 "new1.ingot: written" \
    "$ingot" reshard "$reshard/old%r.ingot" --plan "$reshard/noted.json" -t cpu:v2 -o "$reshard/new%r.ingot"
check "three ranks become the model" 0 "" "$ingot" reshard "$reshard/new%r.ingot" -o "$reshard/back.ig"
check "so do two" 0 "" "$ingot" reshard "$reshard/old%r.ingot" -o "$reshard/again.ig"
holds "with the same bytes" cmp "$reshard"/back.ig.*.weights "$reshard"/again.ig.*.weights
holds "which the text names by content" grep -q 'back.ig.[0-9a-f]*.weights", [0-9]*, [0-9]*, 0x[0-9a-f]*)' \
    "$reshard/back.ig"
mkdir "$reshard/fresh"
INGOT_CACHE_DIR=$reshard/fresh "$ingot" run -q "$reshard/back.ig" --ranks 2 --plan "$reshard/two.json" \
    "${given[@]}" >"$tmp/whole2"
INGOT_CACHE_DIR=$reshard/fresh "$ingot" compile -q "$reshard/back.ig" --plan "$reshard/two.json" --rank 0 \
    -o "$reshard/after_run.ingot"
holds "what a run of ranks left in the cache lacks nothing of an artifact" \
    grep -q whole.weights "$reshard/after_run.ingot"
holds "which gives the same" gives_the_same "$ingot" run -q "$reshard/back.ig" "${given[@]}"
rm "$reshard/new2.ingot"
check "a rank that is missing" 3 "it is one of 3 ranks, but 2 artifacts are given" \
    "$ingot" reshard "$reshard/new%r.ingot" -o "$reshard/other.ig"
cp "$reshard/old1.ingot" "$reshard/turned0.ingot"
check "ranks in another order" 3 "it is the artifact of rank 1 of 2, expected that of rank 0" \
    "$ingot" reshard "$reshard/turned%r.ingot" -o "$reshard/other.ig"
for wrong in 's/"rows": 13/"rows": 93/' 's/\(users.*"pieces": ..\)[0-9]/\19999/' 's/, "dim": 8/, "dim": 9/' 's/"tables"/"stable"/'; do
    sed "$wrong" "$reshard/old0.ingot" >"$reshard/bad0.ingot"
    cp "$reshard/old1.ingot" "$reshard/bad1.ingot"
    attempt "$ingot" reshard "$reshard/bad%r.ingot" -o "$reshard/other.ig"
    holds "a damaged list: $wrong" test $? = 3
done
sed -z 's/"dense": \[\[640, 2240\]\],\n "tables": \[\n  {/"dense":[[416,9],[640,2240]],"tables":[{/' \
    "$reshard/old0.ingot" >"$reshard/bad0.ingot"
check "dense weights that together are more than is held" 3 "its list of shards is damaged" \
    "$ingot" reshard "$reshard/bad%r.ingot" -o "$reshard/other.ig"
cp "$reshard/old0.ingot" "$reshard/mixed0.ingot"
sed 's/"size": \[4, 8\], "offset": \[0, 0\]/"size": [5, 8], "offset": [0, 0]/; s/"size": \[9, 8\], "offset": \[4, 0\]/"size": [8, 8], "offset": [5, 0]/' \
    "$reshard/two.json" >"$reshard/moved.json"
"$ingot" compile -q "$reshard/again.ig" --plan "$reshard/moved.json" --rank 1 -o "$reshard/mixed1.ingot"
check "ranks of another plan" 3 "it is of another model or plan than" \
    "$ingot" reshard "$reshard/mixed%r.ingot" -o "$reshard/other.ig"
"$ingot" compile -q "$reshard/again.ig" -o "$reshard/plain.ingot"
check "an artifact of no rank" 3 "it is not an artifact of a rank" \
    "$ingot" reshard "$reshard/plain.ingot" -o "$reshard/other.ig"
check "where they go is to be said" 2 "needs %r for a rank's number" \
    "$ingot" reshard "$reshard/old%r.ingot" --plan "$reshard/three.json" -o "$reshard/new.ingot"
check "a plan is to be given" 2 "--plan NEW.json says who gets what" \
    "$ingot" reshard "$reshard/old%r.ingot" -o "$reshard/new%r.ingot"
check "files refer to no other" 0 "" "$ingot" compile -q "$reshard/again.ig" --plan "$reshard/moved.json" \
    --rank 0 --weights reference -o "$reshard/ref0.ingot"
cp "$reshard/mixed1.ingot" "$reshard/ref1.ingot"
check "or say so" 4 "compile it with --weights embed" \
    "$ingot" reshard "$reshard/ref%r.ingot" -o "$reshard/other.ig"
