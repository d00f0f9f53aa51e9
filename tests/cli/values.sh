# Values on the command line, and what is said of wrong ones.
# SPDX-License-Identifier: Apache-2.0

check "numbers" 0 "  0 2 0 4" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=-1,2,-3,4'
check "one number fills" 0 "  7 7 7 7" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=7'
check "JSON" 0 "  1.5 0 2 0" "$ingot" run "$tmp/relu.ig" --input 'x=[[1.5, -1, 2, 0]]'
check "counting" 0 "  0 0.5 1 1.5" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=iota:0.5'
check "a range" 0 "y: f32[9, 4]" "$ingot" run "$tmp/relu.ig" --input 'x=f32[9,4]=random:-1:1'
check "too few numbers" 3 "gives 3 numbers for 4 elements" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=1,2,3'
check "no number" 3 "a value that is not a number" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=1,2,3,x'
for value in f32[1,4]=1e39 f32[1,4]=random:1e39:2e39 f32[1,4]=-3.5e38 f32[1,4]=iota:2e38; do
    check "$value is refused" 3 "is out of the range of f32" \
        "$ingot" run "$tmp/relu.ig" --input "x=$value"
done
check "the largest number and infinity are not" 0 "3.4028235e+38 inf 0 0" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=3.4028234e38,inf,-inf,0'
check "no file" 3 "'@' names no file" "$ingot" run "$tmp/relu.ig" --input 'x=@'
check "no value" 3 "is not a value" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4'
check "JSON of uneven rows" 3 "not rectangular" \
    "$ingot" run "$tmp/relu.ig" --input 'x=[[1, 2], [3]]'
check "a size that no machine has" 5 "interpret_bytes" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[1099511627776,4]=0'
check "no such input" 2 "the model has no such input" \
    "$ingot" run "$tmp/relu.ig" --input 'z=f32[1,4]=0'
check "a missing input lists all with types" 3 "missing x: f32[B, 4]" \
    "$ingot" run "$tmp/relu.ig"
check "a file of values that is not there" 6 "cannot read" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/none.npy"
printf 'not an array' >"$tmp/junk.npy"
check "a file of values that is none" 3 "$tmp/junk.npy" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/junk.npy"
check "which is not taken for protobuf" 3 "not a .npy file: it begins with other bytes" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/junk.npy"
mkdir "$tmp/junk_in"
cp "$tmp/junk.npy" "$tmp/junk_in/x.npy"
check "nor in a folder" 3 "junk_in/x.npy: not a .npy file" \
    "$ingot" run "$tmp/relu.ig" --inputs "$tmp/junk_in"
printf '\x93NUMPY\1\0\20\0{1: 2}         \n' >"$tmp/junk.npy"
check "an array with a strange header" 3 "not a .npy file" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/junk.npy"

# Bytes in the other order, of each width.
cat >"$tmp/pair.ig" <<'IG'
module @pair {
  graph @main(%a: i64[2], %b: f64[2], %c: i16[2]) -> (i64[2] "x", f64[2] "y", i16[2] "z") {
    %0 = neg %a : i64[2]
    %1 = neg %b : f64[2]
    %2 = neg %c : i16[2]
    ret %0, %1, %2
  }
}
IG
mkdir "$tmp/big"
"$python" - "$tmp/big" <<'PY'
import struct, sys
for name, code, numbers in (("a", ">i8", ">qq"), ("b", ">f8", ">dd"), ("c", ">i2", ">hh")):
    head = f"{{'descr': '{code}', 'fortran_order': False, 'shape': (2,), }}".ljust(117) + "\n"
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H118s", 118, head.encode())
                   + struct.pack(numbers, 5, 258))
PY
"$ingot" run -q "$tmp/pair.ig" --inputs "$tmp/big" >"$tmp/numbers"
holds "big-endian numbers of 2 and 8 bytes" test "$(grep -c -- '-5 -258' "$tmp/numbers")" = 3

# Out to files and in again.
holds "outputs go to a folder" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[2,4]=iota' --outputs "$tmp/files"
check "a .npy file is a value" 0 "  4 5 6 7" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/files/y.npy"
holds "outputs go to an archive" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[2,4]=iota' --outputs "$tmp/y.npz"
cat >"$tmp/arrays.py" <<'PY'
import sys, numpy
tmp = sys.argv[1]
y = numpy.load(tmp + "/y.npz")["y"]
assert (y == numpy.load(tmp + "/files/y.npy")).all()
numpy.savez(tmp + "/x.npz", x=numpy.asfortranarray(y))
numpy.save(tmp + "/big.npy", y.astype(">f4"))
numpy.save(tmp + "/wide.npy", y.astype("f8"))
texts = numpy.array([["", "h\u00e9z\U0001f600"], ["a", "\u20ac "]])
numpy.save(tmp + "/texts.npy", texts)
numpy.save(tmp + "/texts_column.npy", numpy.asfortranarray(texts))
numpy.save(tmp + "/texts_big.npy", texts.astype(">U9"))
numpy.save(tmp + "/bytes.npy", numpy.array([["", "a"], ["bc", "\u20ac".encode()]], "S"))
numpy.save(tmp + "/no_texts.npy", numpy.zeros((0, 2), "U7"))
numpy.save(tmp + "/zero.npy", numpy.array([["a\0b", "c"]]))
numpy.save(tmp + "/surrogate.npy", numpy.array([["a", "\ud800"]]))
numpy.save(tmp + "/latin.npy", numpy.array([["a", b"\xe9"]], "S"))
numpy.save(tmp + "/objects.npy", numpy.array([["a", "b"]], object), allow_pickle=True)
PY
if has_numpy "arrays by numpy"; then
    holds "numpy reads what was written" "$python" "$tmp/arrays.py" "$tmp"
    check "numpy's archives are read, column-major ones too" 0 "  4 5 6 7" \
        "$ingot" run "$tmp/relu.ig" --inputs "$tmp/x.npz"
    check "big-endian arrays are read" 0 "  4 5 6 7" \
        "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/big.npy"
    check "another dtype lists expected and given" 3 \
        "input 'x' must be f32[B, 4], but was given f64[2, 4]" \
        "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/wide.npy"

    # Texts.
    cat >"$tmp/texts.ig" <<'IG'
module @m {
  symbol N {min = 0}
  graph @main(%x: str[N, 2]) -> (str[N, 4] "y") {
    %0 = concat %x, %x {axis = 1} : str[N, 4]
    ret %0
  }
}
IG
    for form in texts texts_column texts_big bytes no_texts; do
        holds "texts of numpy go in and out: $form" sh -c "
            '$ingot' run '$tmp/texts.ig' --input 'x=@$tmp/$form.npy' -o '$tmp/t.npz' &&
            '$python' -c '
import sys, numpy
x, y = numpy.load(sys.argv[1]), numpy.load(sys.argv[2])[\"y\"]
x = numpy.char.decode(x, \"utf-8\") if x.dtype.kind == \"S\" else x
assert y.dtype.kind == \"U\" and (y == numpy.concatenate([x, x], 1)).all(), y
assert y.shape == (len(x), 4)' '$tmp/$form.npy' '$tmp/t.npz'"
    done
    for wrong in "zero:a text with a zero" "surrogate:that is not a character" \
                 "latin:a text that is not UTF-8"; do
        check "texts that are none: ${wrong%%:*}" 3 "${wrong#*:}" \
            "$ingot" run "$tmp/texts.ig" --input "x=@$tmp/${wrong%%:*}.npy"
    done
    check "pickled objects" 4 "save texts with dtype=str" \
        "$ingot" run "$tmp/texts.ig" --input "x=@$tmp/objects.npy"
fi

# Where outputs go.
cat >"$tmp/two.ig" <<'IG'
module @two {
  graph @main(%x: f32[2]) -> (f32[2], f32[2]) {
    %0 = relu %x : f32[2]
    %1 = neg %x : f32[2]
    ret %0, %1
  }
}
IG
for target in cpu interpret; do
    rm -rf "$tmp/made"
    check "$target: outputs without names have their positions" 0 "output_1: f32[2]" \
        "$ingot" run "$tmp/two.ig" -t $target --input 'x=f32[2]=1,-2'
    check "$target: in a folder" 0 "" \
        "$ingot" run "$tmp/two.ig" -t $target --input 'x=f32[2]=1,-2' -o "$tmp/made"
    holds "$target: too" only "$tmp/made" output_0.npy output_1.npy
    check "$target: in an archive" 0 "" \
        "$ingot" run "$tmp/two.ig" -t $target --input 'x=f32[2]=1,-2' -o "$tmp/two.npz"
    numpy_holds "$target: too, all" "$python" -c '
import numpy, sys
made = numpy.load(sys.argv[1])
assert sorted(made) == ["output_0", "output_1"] and made["output_1"].tolist() == [-1, 2]
' "$tmp/two.npz"
done
rm -rf "$tmp/made"
check "one output may go to a file" 0 "" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=1,-2,3,4' -o "$tmp/one.npy"
numpy_holds "of that name" "$python" -c 'import numpy, sys
assert numpy.load(sys.argv[1]).tolist() == [[1, 0, 3, 4]]' "$tmp/one.npy"
for path in y.txt y.bin two.npy; do
    check "an ending that says nothing is refused: $path" 2 "write to a folder, an archive" \
        "$ingot" run "$tmp/two.ig" --input 'x=f32[2]=1' -o "$tmp/made.$path"
    holds "and makes nothing: $path" absent "$tmp/made.$path"
done

# Standard streams.
numpy_holds "a model from standard input, an archive to standard output" sh -c "
    '$ingot' run - --input 'x=f32[2]=1,-2' -o - <'$tmp/two.ig' >'$tmp/two.npz' &&
    $python -c 'import numpy; assert numpy.load(\"$tmp/two.npz\")[\"output_0\"].tolist() == [1, 0]'"
numpy_holds "inputs from standard input" sh -c "
    $python -c 'import numpy, sys
numpy.savez(\"$tmp/x.npz\", x=numpy.float32([3, -4]))' &&
    '$ingot' run '$tmp/two.ig' --inputs - <'$tmp/x.npz' | grep -q '3 0'"
holds "an artifact to standard output" sh -c "
    '$ingot' compile - -o - <'$tmp/two.ig' >'$tmp/two.ingot' &&
    '$ingot' run '$tmp/two.ingot' --input 'x=f32[2]=1,-2' | grep -q -e '-1 2'"
holds "code from standard input is not run" sh -c "
    '$ingot' run - --input 'x=f32[2]=1' <'$tmp/two.ingot' 2>&1 | grep 'its machine code is not run'"
holds "and is when trusted" sh -c "
    '$ingot' run - --trust-code --input 'x=f32[2]=1,-2' <'$tmp/two.ingot' | grep -q '1 0'"
check "both from one stream cannot be" 2 "cannot both be -" "$ingot" run - --inputs -
check "an empty stream is no model" 3 "" "$ingot" run -
mkdir "$tmp/streams"
for i in 1 2 3 4 5; do
    TMPDIR=$tmp/streams "$ingot" run "$tmp/two.ig" --input 'x=f32[2]=1,-2' -o - | true
done
holds "a reader that is gone leaves no output behind" test -z "$(ls "$tmp/streams")"
holds "a full disk behind a stream is 6" sh -c "
    '$ingot' compile '$tmp/two.ig' -o - >/dev/full; [ \$? = 6 ]"
holds "a dump goes on through a pipe" sh -c "
    '$ingot' dump '$tmp/two.ig' --stage import -o - | '$ingot' run - --input 'x=f32[2]=5,-6' | grep -q '5 0'"

# Lists: ONNX's sequences.
cat >"$tmp/list.ig" <<'IG'
module @list {
  graph @main(%s: seq<f32[N]>) -> (f32[M] "y") {
    %0 = seq_concat %s {axis = 0} : f32[M]
    ret %0
  }
}
IG
for kind in relu list axes range; do
    python3 tests/cli/files/tiny_onnx.py "$tmp/$kind.onnx" $kind
done
"$ingot" run "$tmp/two.ig" -q --input 'x=f32[2]=5,-6' -o "$tmp/items"
listed="$ingot run -t interpret $tmp/list.onnx"
check "a list in JSON" 0 "  1 -2 3" $listed --input 'x=[[1, -2], [3]]'
check "of values with types" 0 "  1 -2 0 1 2" $listed --input 'x=["f32[2]=1,-2", "f32[3]=iota"]'
check "of files and all else" 0 "  5 0 7" \
    $listed --input "x=[\"@$tmp/items/output_0.npy\", [7]]"
check "an empty one" 3 "an empty sequence" $listed --input 'x=[]'
check "an item that is no value" 3 "'f32[2' is not a value" $listed --input 'x=["f32[2"]'
check "an item that is not there" 6 "none.npy: cannot read" \
    $listed --input "x=[\"@$tmp/none.npy\"]"
check "an item of another rank" 3 "expected a sequence of f32 of rank 1" \
    "$ingot" run -t interpret "$tmp/list.ig" --input 's=[[[1]]]'
check "a tensor is no list" 3 "expected a sequence of f32 of rank 1" \
    "$ingot" run -t interpret "$tmp/list.ig" --input 's=f32[2]=1'
check "nor is text" 3 "is not a value" $listed --input 'x=frob'
check "compiled too" 0 "  1 2" "$ingot" run "$tmp/list.onnx" --input 'x=[[1], [2]]'
check "compiled, an empty one" 3 "an empty sequence has no shape to join" \
    "$ingot" run "$tmp/list.onnx" --input 'x=[]'
check "compiled, items of other ranks" 3 "of items that the program does not take" \
    "$ingot" run "$tmp/list.ig" --input 's=[[[1]]]'

# Ranks that the file does not say.
check "the value says the rank" 0 "y: f32[2, 1]" \
    "$ingot" run "$tmp/relu.onnx" --input 'x=f32[2,1]=1,-2'
check "in JSON" 0 "  1 0" "$ingot" run "$tmp/relu.onnx" --input 'x=[1, -2]'
mkdir "$tmp/unranked"
cp "$tmp/items/output_0.npy" "$tmp/unranked/x.npy"
check "in a file" 0 "  5 0" "$ingot" run "$tmp/relu.onnx" --inputs "$tmp/unranked"
check "for a measurement" 0 "p50" \
    "$ingot" bench "$tmp/relu.onnx" --input 'x=f32[2,8]=random' --seconds 0.01
check "a type for the compiler" 0 "" \
    "$ingot" compile "$tmp/list.onnx" --input 'x=seq<f32[N]>' --emit header -o "$tmp/list.h"
check "of another element" 3 "another type than the one given" \
    "$ingot" dump "$tmp/list.onnx" --stage import --input 'x=seq<i64[N]>'
check "without a value a type is asked for" 4 "has no shape, so its rank is not known" \
    "$ingot" run "$tmp/relu.onnx"
check "a name that is no input" 4 "has no shape" \
    "$ingot" run "$tmp/relu.onnx" --input 'z=f32[2]=1'

# Errors of runs name the model, the node, and what is wrong with which value.
check "a step of 0" 3 "range.onnx: node 1 'the_node' (Range): the step from 0 to 3 is 0" \
    "$ingot" run "$tmp/range.onnx" --input 'x=i64[]=3'
"$ingot" compile "$tmp/range.onnx" -q -o "$tmp/range.ingot"
check "an artifact says it too" 3 "range.ingot: node 1 'the_node' (Range): the step" \
    "$ingot" run "$tmp/range.ingot" --input 'x=i64[]=3'

# IR text that was dumped reads its weights from beside it.
mkdir -p "$tmp/dumped/away"
cp "$tmp/dlrm.onnx" "$tmp/dumped/model.onnx"
"$ingot" dump "$tmp/dumped/model.onnx" --stage import -o "$tmp/dumped/model.ig"
check "beside its model a dump is a model" 0 "score: f32[" \
    "$ingot" run "$tmp/dumped/model.ig" --inputs "$tmp/in"
cp "$tmp/dumped/model.ig" "$tmp/dumped/away/"
check "moved away it says where it looks" 3 \
    "weights are looked for beside the text, in '$tmp/dumped/away/'" \
    "$ingot" run "$tmp/dumped/away/model.ig" --inputs "$tmp/in"
holds "once" [ "$(grep -c "'model.onnx'" "$tmp/out")" = 1 ]
cp "$tmp/dumped/model.onnx" "$tmp/dumped/away/"
check "and finds them there" 0 "score: f32[" \
    "$ingot" run "$tmp/dumped/away/model.ig" --inputs "$tmp/in"

# Element types have names.
python3 tests/cli/files/tiny_onnx.py "$tmp/narrow.onnx" narrow
check "also those that are not supported" 4 \
    "input 'x' has element type COMPLEX64, which is not supported yet" "$ingot" inspect "$tmp/narrow.onnx"

# Axes that the run decides: code and interpreter take and refuse the same ones.
cat >"$tmp/reduced.ig" <<'IG'
module @reduced {
  graph @main(%x: f32[A, B], %axes: i64[K], %last: i64[2], %s: f32[], %none: i64[M]) -> (f32[n, n2] "kept", f32[] "all", f32[] "norm") {
    %0 = reduce %x, %axes {op = sum, keep} : f32[n, n2]
    %1 = reduce %x, %last {op = sum} : f32[]
    %2 = reduce %s, %none {op = l2, keep} : f32[]
    ret %0, %1, %2
  }
}
IG
reduced() {
    "$ingot" run "$tmp/reduced.ig" -t "$1" --input 'x=f32[2,3]=1,2,3,4,5,6' --input "axes=$2" \
        --input "last=i64[2]=$3" --input 's=f32[]=-2' --input "none=i64[${4:-0}]=0"
}
for target in cpu interpret; do
    reduced $target i64[3]=0,-2,0 -1,0 >"$tmp/sums"
    holds "$target: an axis may be named twice where its rank stays" \
        [ "$(tr -s '\n ' ' ' <"$tmp/sums")" = "kept: f32[1, 3] 5 7 9 all: f32[] 21 norm: f32[] 2 " ]
    check "$target: not where it goes" 3 "named twice" reduced $target i64[1]=0 0,-2
    check "$target: nor one that is not there" 3 "axis 2 of 2 is not there" \
        reduced $target i64[1]=2 0,1
    check "$target: a scalar has none" 3 "is not there" reduced $target i64[1]=0 0,1 1
done
sed 's/i64\[2\], %s/i64[J], %s/' "$tmp/reduced.ig" >"$tmp/open.ig"
check "how many axes go is to be known" 4 "decides the rank of the result" \
    "$ingot" inspect "$tmp/open.ig"
cat >"$tmp/padded.ig" <<'IG'
module @padded {
  graph @main(%x: f32[A, 1], %pads: i64[4], %v: f32[], %axes: i64[2]) -> (f32[n, n2] "y") {
    %0 = pad %x, %pads, %v, %axes : f32[n, n2]
    ret %0
  }
}
IG
for target in cpu interpret; do
    "$ingot" run "$tmp/padded.ig" -t $target --input 'x=f32[1,1]=7' \
        --input 'pads=i64[4]=5,1,5,2' --input 'v=f32[]=0' --input 'axes=i64[2]=0,-2' >"$tmp/sums"
    holds "$target: of pads of one axis the last counts" \
        [ "$(tr -s '\n ' ' ' <"$tmp/sums")" = "y: f32[4, 1] 0 7 0 0 " ]
done

echo '{"x": [1]}' >"$tmp/inputs.json"
check "inputs are a folder or an archive" 2 "name a folder of NAME.npy" \
    "$ingot" run "$tmp/two.ig" --inputs "$tmp/inputs.json"
