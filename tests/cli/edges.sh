# Shapes, ids and batches at their edges: compiled and interpreted.
# SPDX-License-Identifier: Apache-2.0

# bags N IDS OFFSETS: the example on N bags of every table.
bags() {
    local count=$1 ids=$2 offsets=$3 table
    shift 3
    local values=(--input "dense=f32[$count,13]=1")
    for table in 0 1 2 3 4 5 6 7; do
        values+=(--input "ids_$table=$ids" --input "offsets_$table=i64[$count]=$offsets")
    done
    "$ingot" run "$model" "${values[@]}" "$@"
}

for target in cpu interpret; do
    model=$tmp/dlrm.onnx
    check "$target: a batch of none" 0 "score: f32[0, 1]" bags 0 'i64[0]=0' 0 -t $target
    check "$target: a batch of one" 0 "score: f32[1, 1]" bags 1 'i64[3]=0,1,2' 0 -t $target
    check "$target: empty bags among others" 0 "score: f32[3, 1]" \
        bags 3 'i64[2]=0,1' 0,2,2 -t $target
    check "$target: nothing but empty bags" 0 "score: f32[3, 1]" \
        bags 3 'i64[0]=0' 0 -t $target
    check "$target: ids count from the end" 0 "score: f32[1, 1]" \
        bags 1 'i64[2]=-1,-24' 0 -t $target
    check "$target: an id out of range is 3" 3 "" bags 2 'i64[4]=0,1,24,2' 0,2 -t $target
    check "$target: wrong shape is 3" 3 "is 12, expected 13" \
        "$ingot" run "$model" -t $target --inputs "$tmp/in" --input 'dense=f32[2,12]=0'
    check "$target: batches that disagree are 3" 3 "batch" \
        "$ingot" run "$model" -t $target --inputs "$tmp/in" --input 'dense=f32[2,13]=0'
done

# A bag's row is the same whatever bags stand beside it, empty ones too.
scores() { # scores NAME N IDS OFFSETS
    bags "$2" "$3" "$4" -t "$target" --json >"$tmp/$1.json"
}
for target in cpu interpret; do
    scores all 4 'i64[3]=0,1,-1' 0,2,2,3
    scores first 1 'i64[2]=0,1' 0
    scores none 1 'i64[0]=0' 0
    scores last 2 'i64[1]=23' 0,1
    holds "$target: rows of empty bags have their numbers" python3 - "$tmp" <<'PY'
import json, sys

def rows(name):
    return [row[0] for row in json.load(open(f"{sys.argv[1]}/{name}.json"))["outputs"]["score"]]

every, first, none, last = (rows(name) for name in ("all", "first", "none", "last"))
expected = [first[0], none[0], last[0], none[0]]
assert len(every) == 4 and len(last) == 2, (every, last)
print(every, expected, last)
assert all(abs(a - b) <= 1e-6 for a, b in zip(every, [first[0], none[0], last[0], none[0]]))
assert abs(last[1] - none[0]) <= 1e-6 and len({round(x, 4) for x in expected}) == 3
PY
done

# Numbers worked out by hand.
cat >"$tmp/bags.ig" <<'IG'
module @bags {
  weight @t : f32[4, 2] = [1, 2, 3, 4, -5, -6, 7, 8]
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[B, 2] "sum", f32[B, 2] "mean", f32[B, 2] "max", f32[B, 2] "weighted", f32[B, 2] "padded") {
    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 2]
    %1 = bag @t, %ids, %off {operands = [1], pool = [mean]} : f32[B, 2]
    %2 = bag @t, %ids, %off {operands = [1], pool = [max]} : f32[B, 2]
    %3 = bag @t, %ids, %off, %w {operands = [5], pool = [sum]} : f32[B, 2]
    %4 = bag @t, %ids, %off {operands = [1], pool = [mean], padding = [2]} : f32[B, 2]
    ret %0, %1, %2, %3, %4
  }
}
IG
pools() { # pools IDS OFFSETS WEIGHTS: all numbers on one line
    "$ingot" run "$tmp/bags.ig" -t "$target" --input "ids=$1" --input "off=$2" \
        --input "w=$3" >"$tmp/numbers" && tr -s ' \n' ' ' <"$tmp/numbers"
}
for target in cpu interpret; do
    check "$target: bags of several, none and one" 0 \
        "sum: f32[4, 2] -4 -4 0 0 7 8 -10 -12 mean: f32[4, 2] -2 -2 0 0 7 8 -5 -6 max: f32[4, 2] 1 2 0 0 7 8 -5 -6 weighted: f32[4, 2] -9 -10 0 0 3.5 4 -10 -12 padded: f32[4, 2] 1 2 0 0 7 8 0 0" \
        pools 'i64[5]=0,2,-1,2,2' 'i64[4]=0,2,2,3' 'f32[5]=1,2,0.5,-1,3'
    check "$target: the first and the last are empty" 0 \
        "sum: f32[3, 2] 0 0 3 4 0 0 mean: f32[3, 2] 0 0 3 4 0 0 max: f32[3, 2] 0 0 3 4 0 0 weighted: f32[3, 2] 0 0 -6 -8 0 0 padded: f32[3, 2] 0 0 3 4 0 0" \
        pools 'i64[1]=1' 'i64[3]=0,0,1' 'f32[1]=-2'
    check "$target: no ids at all" 0 \
        "sum: f32[2, 2] 0 0 0 0 mean: f32[2, 2] 0 0 0 0 max: f32[2, 2] 0 0 0 0 weighted: f32[2, 2] 0 0 0 0 padded: f32[2, 2] 0 0 0 0" \
        pools 'i64[0]=0' 'i64[2]=0' 'f32[0]=0'
    check "$target: no bags, though there are ids" 0 "sum: f32[0, 2]" \
        pools 'i64[2]=0' 'i64[0]=0' 'f32[2]=1'
done

cat >"$tmp/offsets.ig" <<'IG'
module @offsets {
  weight @rows : f32[3, 2] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2]) {
    %0 = bag @rows, %ids, %off {operands = [1], pool = [sum], negative = error, offsets = first} : f32[B, 2]
    ret %0
  }
}
IG
offsets() { # offsets VALUES OPTION…: bags of four ids that begin there
    local values=$1
    shift
    "$ingot" run -q "$tmp/offsets.ig" "$@" --input 'ids=i64[4]=0,1,2,1' --input "off=$values"
}
for target in interpret cpu; do
    check "$target: offsets from 0 on" 0 "2 2" offsets 'i64[2]=0,1' -t $target
    for values in 'i64[2]=1,2' 'i64[3]=0,3,2' 'i64[2]=0,9' 'i64[2]=0,-1'; do
        check "$target: offsets $values" 3 "" offsets "$values" -t $target
    done
done
check "a first offset that is not 0 is named" 3 "'off' element 0 is 1, expected 0" \
    offsets 'i64[2]=1,2'
check "an offset that falls is named" 3 "'off' element 2 is 2, less than the one before" \
    offsets 'i64[3]=0,3,2'
check "an offset beyond the ids is named" 3 "'off' element 1 is 9, outside 0..4" \
    offsets 'i64[2]=0,9'

model=$tmp/dlrm.ingot
check "an id out of range names input, position and value" 3 \
    "input 'ids_6' element 2 is 24" bags 2 'i64[4]=0,1,24,2' 0,2
check "wrong shape lists expected and given" 3 \
    "input 'dense' must be f32[batch, 13], but was given f32[2, 12]" \
    "$ingot" run "$model" --inputs "$tmp/in" --input 'dense=f32[2,12]=0'
check "wrong dtype lists expected and given" 3 "but was given i32[2, 13]" \
    "$ingot" run "$model" --inputs "$tmp/in" --input 'dense=i32[2,13]=0'
check "wrong rank lists expected and given" 3 "but was given f32[13]" \
    "$ingot" run "$model" --inputs "$tmp/in" --input 'dense=f32[13]=0'
model=$tmp/dlrm.onnx
check "ids may be clamped" 0 "score: f32[2, 1]" \
    bags 2 'i64[4]=0,1,100000,2' 0,2 --clamp-ids
check "the sign is told apart: a negative id beyond the table is 3" 3 "-25" \
    bags 1 'i64[1]=-25' 0

# Threads do not change bits.
"$ingot" run "$tmp/dlrm.ingot" --inputs "$tmp/in" --json >"$tmp/one"
for threads in 2 3 4 7; do
    "$ingot" run "$tmp/dlrm.ingot" --inputs "$tmp/in" --json --threads $threads >"$tmp/more"
    holds "$threads threads give the same bits" cmp "$tmp/one" "$tmp/more"
done
"$ingot" run "$tmp/dlrm.onnx" --no-cache --inputs "$tmp/in" --json >"$tmp/more"
holds "compiled just in time gives the same bits" cmp "$tmp/one" "$tmp/more"

# Names from a file cannot steer a terminal or fake a line.
cat >"$tmp/names.ig" <<'IG'
module @names {
  graph @main(%x "a\x1b[2J\nerror: \x9b\x7f": f32[2]) -> (f32[2] "y\x07") {
    %0 = relu %x : f32[2]
    ret %0
  }
}
IG
plain() {
    "$ingot" "$@" >"$tmp/plain" 2>&1
    ! LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f-\x9f]|^error: [^0-9]' "$tmp/plain"
}
holds "names are plain in what inspect prints" plain inspect "$tmp/names.ig"
holds "and in what run says" plain run "$tmp/names.ig"
mkdir "$tmp/two"
python3 - "$tmp/two/input_0.npy" <<'PY'
import sys
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}".ljust(117) + "\n"
with open(sys.argv[1], "wb") as out:
    out.write(b"\x93NUMPY\x01\x00v\x00" + header.encode() + bytes(8))
PY
holds "and in its results" plain run "$tmp/names.ig" --inputs "$tmp/two"
holds "which it prints" grep -q "f32\[2\]" "$tmp/plain"
"$ingot" inspect "$tmp/names.ig" --json >"$tmp/json"
holds "and as JSON" is_json

# Branches nest as deep as readers let them; deeper ones are refused in words.
nest() {
    python3 - "$1" >"$tmp/nest.ig" <<'PY'
import sys

count = int(sys.argv[1])
out = ["module @nest {", '  graph @main(%c: bool[], %x: f32[2]) -> (f32[2] "y") {']
out += [f"%{i} = if %c : f32[2] {{" for i in range(count)]
out += [f"%{count} = neg %x : f32[2]"]
out += [f"yield %{i + 1} }} else {{ yield %x }}" for i in reversed(range(count))]
print("\n".join(out + ["ret %0 } }"]))
PY
}
nested="$ingot run $tmp/nest.ig --no-cache --input c=bool[]=1 --input x=f32[2]=1,2"
nest 60
check "branches nest 60 deep" 0 "-1 -2" $nested
nest 100
check "branches that nest deeper than programs can are 5" 5 "nest deeper" \
    $nested --limit graph_depth=200

# A padded copy that would be too large is made by a pass: no memory would do for it.
cat >"$tmp/large.ig" <<'IG'
module @large {
  graph @main(%x: f32[4503599627370496, 3, 8, 8]) -> (f32[4503599627370496, 4, 8, 8] "y") {
    %0 = const {value = f32[4, 3, 3, 3] splat(1)} : f32[4, 3, 3, 3]
    %1 = conv %x, %0 {strides = [1, 1], dilations = [1, 1], before = [1, 1], after = [1, 1]} : f32[4503599627370496, 4, 8, 8]
    ret %1
  }
}
IG
check "what a pass would make too large is named" 5 \
    "large.ig:4:10: the result has more elements than can be counted" \
    "$ingot" compile "$tmp/large.ig" -o "$tmp/large.ingot"
said=$(cat "$tmp/out")
holds "and memory is not blamed" test "${said#*memory}" = "$said"

# Lists whose length is open: one entry, or two for Pad, is as many as the axis needs.
for form in "pads 2" "tile 1" "crop 1"; do
    read -r kind count <<<"$form"
    python3 tests/cli/files/tiny_onnx.py "$tmp/$kind.onnx" "$kind"
    for target in interpret cpu; do
        check "$target: $kind with a list of $count" 0 "y: f32[" \
            "$ingot" run "$tmp/$kind.onnx" --target "$target" --input 'x=f32[3]=1' \
            --input "list=i64[$count]=1"
        check "$target: $kind with two entries too many" 3 "list" \
            "$ingot" run "$tmp/$kind.onnx" --target "$target" --input 'x=f32[3]=1' \
            --input "list=i64[$((count + 2))]=1"
    done
done

# An integer divided by zero is an error, in any lane and in shapes.
cat >"$tmp/quotient.ig" <<'IG'
module @quotient {
  graph @main(%x: i32[N], %y: i32[N]) -> (i32[N] "q", i32[N] "r") {
    %0 = div %x, %y : i32[N]
    %1 = mod %x, %y : i32[N]
    ret %0, %1
  }
}
IG
cat >"$tmp/shape_quotient.ig" <<'IG'
module @shape_quotient {
  graph @main(%x: f32[N], %y: f32[M]) -> (i64[1] "q") {
    %0 = dims {values = [N]} : i64[1]
    %1 = dims {values = [M]} : i64[1]
    %2 = div %0, %1 : i64[1]
    ret %2
  }
}
IG
for target in cpu interpret; do
    for count in 1 13 67; do
        check "$target: $count quotients" 0 "q: i32[$count]" "$ingot" run "$tmp/quotient.ig" \
            -t $target --input "x=i32[$count]=iota" --input "y=i32[$count]=3"
        check "$target: $count quotients, of which one is by zero" 3 "divided by zero" \
            "$ingot" run "$tmp/quotient.ig" -t $target --input "x=i32[$count]=1" \
            --input "y=i32[$count]=iota"
    done
    check "$target: none of no integers" 0 "q: i32[0]" "$ingot" run "$tmp/quotient.ig" \
        -t $target --input 'x=i32[0]=1' --input 'y=i32[0]=0'
    check "$target: a quotient of extents by zero" 3 "divided by zero" \
        "$ingot" run "$tmp/shape_quotient.ig" -t $target --input 'x=f32[5]=1' --input 'y=f32[0]=1'
done

# Ids of -1 name no row where `negative` is skip: zeros.
cat >"$tmp/no_row.ig" <<'IG'
module @no_row {
  graph @main(%x: f32[R, 3], %i: i64[N], %n: i32[N, 1]) -> (f32[N, 3] "a", f32[N, 3] "b", f32[N] "c") {
    %0 = gather %x, %i {axis = 0, negative = skip} : f32[N, 3]
    %1 = gather_nd %x, %n {negative = skip} : f32[N, 3]
    %2 = slice %x {starts = [0, 1], sizes = [R, 1]} : f32[R, 1]
    %3 = reshape %2 {to = [R]} : f32[R]
    %4 = gather %3, %i {axis = 0, negative = skip} : f32[N]
    ret %0, %1, %4
  }
}
IG
for target in cpu interpret; do
    "$ingot" run "$tmp/no_row.ig" -t $target --input 'x=f32[4,3]=iota' --input 'i=i64[9]=-1,3,-1,0,2,1,-7,3,-1' \
        --input 'n=i32[9,1]=3,-1,-1,0,2,1,-7,3,2' >"$tmp/no_row.$target"
    words="element 0 is 4"
    [ $target = cpu ] || words="index 4 at position 0"
    check "$target: an id past the last row" 3 "$words" "$ingot" run "$tmp/no_row.ig" -t $target \
        --input 'x=f32[4,3]=iota' --input 'i=i64[9]=4' --input 'n=i32[9,1]=0'
done
holds "no row is zeros" [ "$(sed -n '2p;14p' "$tmp/no_row.cpu" | tr -s ' \n' ' ')" = ' 0 0 0 0 0 0 ' ]
holds "compiled as interpreted" cmp "$tmp/no_row.cpu" "$tmp/no_row.interpret"
