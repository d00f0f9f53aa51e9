# Values on the command line, and what is said of wrong ones.
# SPDX-License-Identifier: Apache-2.0

check "numbers" 0 "  0 2 0 4" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=-1,2,-3,4'
check "one number fills" 0 "  7 7 7 7" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=7'
check "JSON" 0 "  1.5 0 2 0" "$ingot" run "$tmp/relu.ig" --input 'x=[[1.5, -1, 2, 0]]'
check "counting" 0 "  0 0.5 1 1.5" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=iota:0.5'
check "a range" 0 "y: f32[9, 4]" "$ingot" run "$tmp/relu.ig" --input 'x=f32[9,4]=random:-1:1'
check "too few numbers" 3 "gives 3 numbers for 4 elements" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=1,2,3'
check "no number" 3 "no number" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=1,2,3,x'
check "no value" 3 "is no value" "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4'
check "JSON of uneven rows" 3 "not rectangular" \
    "$ingot" run "$tmp/relu.ig" --input 'x=[[1, 2], [3]]'
check "a size that no machine has" 5 "interpret_bytes" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[1099511627776,4]=0'
check "no such input" 3 "the model has no such input" \
    "$ingot" run "$tmp/relu.ig" --input 'z=f32[1,4]=0'
check "a missing input lists all with types" 3 "missing x: f32[B, 4]" \
    "$ingot" run "$tmp/relu.ig"
check "a file of values that is not there" 6 "cannot read" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/none.npy"
printf 'not an array' >"$tmp/junk.npy"
check "a file of values that is none" 3 "$tmp/junk.npy" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/junk.npy"
printf '\x93NUMPY\1\0\20\0{1: 2}         \n' >"$tmp/junk.npy"
check "an array with a strange header" 3 "not a .npy file" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/junk.npy"

# Out to files and in again.
holds "outputs go to a folder" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[2,4]=iota' --outputs "$tmp/files"
check "a .npy file is a value" 0 "  4 5 6 7" \
    "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/files/y.npy"
holds "outputs go to an archive" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[2,4]=iota' --outputs "$tmp/y.npz"
# Debian's python3, which is the one that scripts/deps gives numpy.
PATH=/usr/bin:$PATH python3 - "$tmp" <<'PY' 2>"$tmp/out"
import sys, numpy
tmp = sys.argv[1]
y = numpy.load(tmp + "/y.npz")["y"]
assert (y == numpy.load(tmp + "/files/y.npy")).all()
numpy.savez(tmp + "/x.npz", x=numpy.asfortranarray(y))
numpy.save(tmp + "/big.npy", y.astype(">f4"))
numpy.save(tmp + "/wide.npy", y.astype("f8"))
PY
if [ $? = 0 ]; then
    check "numpy's archives are read, column-major ones too" 0 "  4 5 6 7" \
        "$ingot" run "$tmp/relu.ig" --inputs "$tmp/x.npz"
    check "big-endian arrays are read" 0 "  4 5 6 7" \
        "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/big.npy"
    check "another dtype lists expected and given" 3 \
        "input 'x' must be f32[B, 4], but was given f64[2, 4]" \
        "$ingot" run "$tmp/relu.ig" --input "x=@$tmp/wide.npy"
elif grep -q "No module named 'numpy'" "$tmp/out"; then
    skip "arrays by numpy" "python3 has no numpy"
else
    report "numpy reads what was written" "$(cat "$tmp/out")"
fi
