# Other forms of an artifact, linked into a program.
# SPDX-License-Identifier: Apache-2.0

mkdir "$tmp/emit"
for form in object:small.o header:small.h shared:libsmall.so llvm:small.ll asm:small.s; do
    holds "compile --emit ${form%:*}" \
        "$ingot" compile "$tmp/relu.ig" -q --emit "${form%:*}" -o "$tmp/emit/${form#*:}"
done
check "an unknown form is wrong usage" 2 "--emit takes" \
    "$ingot" compile "$tmp/relu.ig" --emit wasm -o "$tmp/emit/x"
holds "an object has an artifact, its code and their sizes, and needs nothing" sh -c "
    [ \"\$(nm '$tmp/emit/small.o' | cut -c18- | tr '\n' ' ')\" = \\
        'R ingot_small T ingot_small_code R ingot_small_code_size R ingot_small_size ' ]"
cat >"$tmp/emit/main.c" <<'C'
#include "small.h"
#include <stdio.h>

int main(void) {
    float       x[4] = { -1, 2, -3, 4 };
    ig_program *program = NULL;
    ig_session *session = NULL;
    ig_view     in = { .data = x, .dtype = IG_F32, .rank = 2, .dims = { 1, 4 } };
    ig_view     out = { 0 };
    if (ingot_small_open(NULL, &program) || ig_session_create(program, NULL, &session) ||
        ingot_small_run(session, &in, &out)) {
        return 1;
    }
    const float *y = out.data;
    printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
    ig_session_destroy(session);
    ig_program_close(program);
    return 0;
}
C
link=(-Iinclude -L"$build" -lingot-runtime -Wl,-rpath,"$build")
if is_sanitized; then
    skip "programs that link an object" "the libraries need the sanitizer"
else
    holds "a program links the object" cc -Wall -Wextra -Werror -O1 "$tmp/emit/main.c" \
        "$tmp/emit/small.o" -o "$tmp/emit/one" "${link[@]}"
    check "and runs" 0 "0 2 0 4" "$tmp/emit/one"
    holds "or the shared library" cc -O1 "$tmp/emit/main.c" -o "$tmp/emit/two" \
        -L"$tmp/emit" -lsmall -Wl,-rpath,"$tmp/emit" "${link[@]}"
    check "and runs with it" 0 "0 2 0 4" "$tmp/emit/two"
fi
if command -v g++ >/dev/null; then
    holds "the header is C++ too" sh -c \
        "echo '#include \"small.h\"' | g++ -std=c++17 -Wall -Wextra -Werror -Iinclude \
            -I'$tmp/emit' -x c++ -fsyntax-only -"
else
    skip "the header as C++" "there is no g++"
fi
check "without a C compiler it says so" 4 "install a C compiler" \
    env PATH=/nonexistent CC= "$ingot" compile "$tmp/relu.ig" --emit shared \
    -o "$tmp/emit/x.so"
holds "and leaves nothing" absent "$tmp/emit/x.so"

# A model is never replaced by what is made of it.
mkdir "$tmp/same"
cp "$tmp/dlrm.onnx" "$tmp/relu.ig" "$tmp/same"
ln "$tmp/same/dlrm.onnx" "$tmp/same/link.onnx"
ln -s dlrm.onnx "$tmp/same/symlink.onnx"
for output in dlrm.onnx link.onnx symlink.onnx; do
    check "compile does not replace its model: $output" 2 "is the model itself" \
        "$ingot" compile "$tmp/same/dlrm.onnx" -o "$tmp/same/$output"
done
for verb in dump "opt --passes dce"; do
    # shellcheck disable=SC2086
    check "nor does $verb" 2 "is the model itself" \
        "$ingot" $verb "$tmp/same/relu.ig" -o "$tmp/same/relu.ig"
done
holds "and it is as it was" cmp "$tmp/same/dlrm.onnx" "$tmp/dlrm.onnx"
if cp -r "$cases/models/onnx/external_packed" "$tmp/packed" 2>/dev/null; then
    chmod -R u+w "$tmp/packed"
    ln -s item_table.bin "$tmp/packed/linked.ingot"
    check "nor is a file of its weights" 3 "this file is part of the model" \
        "$ingot" compile "$tmp/packed/model.onnx" -o "$tmp/packed/linked.ingot"
    holds "which is as it was" cmp "$tmp/packed/item_table.bin" \
        "$cases/models/onnx/external_packed/item_table.bin"
    rm -rf "$tmp/packed"
else
    skip "a file of weights as the output" "$cases/models/onnx is absent"
fi

# Names that could be options, and folders of temporaries.
mkdir "$tmp/dashes" "$tmp/dashes/tmp"
if command -v cc >/dev/null; then
    check "a library may be called as an option is" 0 "" sh -c "
        cd '$tmp/dashes' && TMPDIR='$tmp/dashes/tmp' '$ingot' compile '$tmp/relu.ig' -q \
            --emit shared -o -x.so && [ -s ./-x.so ]"
    holds "and nothing else is left" [ -z "$(ls "$tmp/dashes/tmp")" ]
else
    skip "a library called as an option is" "there is no cc"
fi
