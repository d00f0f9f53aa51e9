# Operators of the user's own.  SPDX-License-Identifier: Apache-2.0

ops=examples/custom/hash.ig
for kind in hash hashes; do
    "$python" tests/cli/files/tiny_onnx.py "$tmp/$kind.onnx" $kind
done
hashed=(--input 'x=i64[3]=1,2,99999')

check "an operator that nobody knows is named, with what to do" 4 \
    "operator acme::Hash (version 1) is not supported yet" \
    "$ingot" run "$tmp/hash.onnx" "${hashed[@]}"
check "which is a page" 4 "docs/custom-operators.md" "$ingot" run "$tmp/hash.onnx" "${hashed[@]}"
check "a graph serves it" 0 "761 522 239" "$ingot" run "$tmp/hash.onnx" --ops $ops "${hashed[@]}"
check "by the form that fits" 0 "761 522 283" \
    "$ingot" run "$tmp/hashes.onnx" --ops $ops --input 'x=i64[1,3]=1,2,3'
check "also where the model is read in a confined process" 0 "761 522 239" \
    "$ingot" run "$tmp/hash.onnx" --ops $ops --isolate "${hashed[@]}"
check "its ops stand in the graph, as if the model had them" 0 "mod %" \
    "$ingot" dump "$tmp/hash.onnx" --ops $ops --stage import
"$ingot" compile "$tmp/hash.onnx" -q --ops $ops -o "$tmp/hash.ingot"
check "and the artifact needs no file of operators" 0 "761 522 239" \
    "$ingot" run "$tmp/hash.ingot" "${hashed[@]}"
check "a compiled artifact takes no such file" 2 "--ops has no effect" \
    "$ingot" run "$tmp/hash.ingot" --ops $ops "${hashed[@]}"

# What it costs is what its ops cost inside of the model: the same plan, the same code.
for kind in pooled pooled_inside; do
    "$python" tests/cli/files/tiny_onnx.py "$tmp/$kind.onnx" $kind
    for stage in plan asm; do
        "$ingot" dump "$tmp/$kind.onnx" --ops $ops --stage $stage >"$tmp/$kind.$stage"
    done
done
holds "its launches are those of ops in the model" grep -q "launch.*kernel = @bag" "$tmp/pooled.plan"
for stage in plan asm; do
    holds "and its $stage is the same, to the byte" cmp "$tmp/pooled.$stage" "$tmp/pooled_inside.$stage"
done

# What a file of operators may not be.
refuses() {
    local what=$1 words=$2
    printf 'module @m {\n%s\n}\n' "$3" >"$tmp/bad.ig"
    check "$what" 3 "$words" "$ingot" run "$tmp/hash.onnx" --ops "$tmp/bad.ig" "${hashed[@]}"
}
refuses "a graph without an operator's name" "its name is not that of an operator" \
    '  graph @f(%x: i64[N]) -> (i64[N]) { ret %x }'
refuses "an operator with weights" "the file has weights" \
    '  weight @w : i64[] = splat(1)
  graph @"acme::Hash"(%x: i64[N], %buckets: i64[]) -> (i64[N]) { ret %x }'
refuses "no form for these dtypes" "none of its forms in --ops" \
    '  graph @"acme::Hash"(%x: f32[N], %buckets: i64[]) -> (f32[N]) { ret %x }'
refuses "no form for this attribute" "none of its forms in --ops" \
    '  graph @"acme::Hash"(%x: i64[N]) -> (i64[N]) { ret %x }'
refuses "text that does not parse" "bad.ig:2" '  graph @"acme::Hash"(%x i64[N])'
check "and no file" 6 "absent.ig" "$ingot" run "$tmp/hash.onnx" --ops "$tmp/absent.ig" "${hashed[@]}"

# ---- as C ----

cc=${CC:-cc}
make_library() {
    "$cc" -std=c11 -shared -fPIC -Iinclude "${@:3}" "$2" -o "$tmp/$1.so"
}
make_library hash examples/custom/hash.c
make_library kept tests/cli/files/custom_ops.c
make_library kept2 tests/cli/files/custom_ops.c -DVERSION=2
check "a library serves it" 0 "761 522 239" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/hash.so" "${hashed[@]}"
check "the interpreter calls it too" 0 "761 522 239" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/hash.so" --target interpret "${hashed[@]}"
check "by the form that fits" 0 "761 522 283" \
    "$ingot" run "$tmp/hashes.onnx" --ops "$tmp/hash.so" --input 'x=i64[1,3]=1,2,3'
check "the process that reads the model never opens it" 0 "761 522 239" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/hash.so" --isolate --no-cache "${hashed[@]}"
check "the file that is named first goes first" 0 "1 2 99999" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/kept.so" --ops $ops "${hashed[@]}"
check "extents that the function finds" 0 "i64[2]" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/kept.so" --input 'x=i64[3]=1,2000,3'
check "also by the interpreter" 0 "i64[2]" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/kept.so" --target interpret \
    --input 'x=i64[3]=1,2000,3'
check "a function that fails says why" 5 "acme::Hash: nothing is left" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/kept.so" --input 'x=i64[1]=1000'
check "by the interpreter too" 5 "acme::Hash: nothing is left" \
    "$ingot" run "$tmp/hash.onnx" --ops "$tmp/kept.so" --target interpret --input 'x=i64[1]=1000'

"$ingot" compile "$tmp/hash.onnx" -q --ops "$tmp/kept.so" -o "$tmp/kept.ingot"
check "an artifact wants its library again" 4 "acme::Hash (version 1): give the library" \
    "$ingot" run "$tmp/kept.ingot" "${hashed[@]}"
check "and runs with it" 0 "1 2 99999" \
    "$ingot" run "$tmp/kept.ingot" --ops "$tmp/kept.so" "${hashed[@]}"
check "by the environment" 0 "1 2 99999" \
    env INGOT_OPS="$tmp/kept.so" "$ingot" run "$tmp/kept.ingot" "${hashed[@]}"
check "not with one of another version" 4 "of version 1, and was given version 2" \
    "$ingot" run "$tmp/kept.ingot" --ops "$tmp/kept2.so" "${hashed[@]}"
check "of two libraries it takes the right one" 0 "1 2 99999" \
    "$ingot" run "$tmp/kept.ingot" --ops "$tmp/kept2.so" --ops "$tmp/kept.so" "${hashed[@]}"

refuses_library() {
    make_library bad tests/cli/files/custom_ops.c "${@:4}"
    check "$1" "$2" "$3" "$ingot" run "$tmp/hash.onnx" --ops "$tmp/bad.so" "${hashed[@]}"
}
refuses_library "a library without a table" 3 "exports no ig_custom_v1" -DNO_TABLE
refuses_library "a signature that does not parse" 3 "bad.so:" -DBAD_SIGNATURE
refuses_library "extents that nobody finds" 3 "no function that computes them" -DNO_EXTENTS
check "and none that is not there" 6 "absent.so" \
    "$ingot" run "$tmp/kept.ingot" --ops "$tmp/absent.so" "${hashed[@]}"

# Names of operators are never names of files, whatever a model calls them.
"$python" tests/cli/files/tiny_onnx.py "$tmp/hostile.onnx" foreign "$tmp/kept.so"
mark=$tmp/opened
check "a model cannot name a library" 4 "is not supported yet" \
    env CUSTOM_OPENED="$mark" "$ingot" run "$tmp/hostile.onnx" "${hashed[@]}"
check "which nobody opens" 1 "" test -e "$mark"
