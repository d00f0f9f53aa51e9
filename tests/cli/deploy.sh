# Programs of torch::deploy, with other includes.  SPDX-License-Identifier: Apache-2.0

package=$cases/models/torch/package/seed
if is_sanitized; then
    skip "programs of torch::deploy" "programs would need the sanitizer"
elif [ ! -e "$build/libingot-interp-cpython.so" ]; then
    skip "programs of torch::deploy" "no libpython for embedding"
elif [ ! -d "$package" ]; then
    skip "programs of torch::deploy" "INGOT_CASES has no models/torch"
else
    cp "$package/my_package.pt" "$tmp/my_package.pt"
    holds "the seed's package compiles" "$ingot" run "$tmp/my_package.pt" -q \
        --inputs "$package/test_data_set_0" -o "$tmp/compiled.npy"
    tail -c 1024 "$tmp/compiled.npy" >"$tmp/compiled.bin"
    headers=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
    mkdir -p "$tmp/modules"
    for compiler in g++ clang++-14; do
        if ! command -v $compiler >/dev/null; then
            skip "programs of torch::deploy by $compiler" "there is no $compiler"
            continue
        fi
        for program in seed behaviours; do
            holds "$program.cc builds by $compiler" $compiler -std=c++17 -O1 -Wall -Wextra \
                -Wpedantic -Wshadow -Wconversion -Werror -Iinclude \
                "tests/cli/deploy/$program.cc" -L"$build" -lingot-interp -lpthread \
                -Wl,-rpath,"$(realpath "$build")" -o "$tmp/$program"
        done
        holds "extension.cc builds by $compiler" $compiler -std=c++17 -O1 -shared -fPIC \
            -I"$headers" tests/cli/deploy/extension.cc -o "$tmp/modules/apart.so"
        check "and runs as its documentation has it" 0 "[ CPUFloatType{1,5,2,2} ]" \
            env PATH_TO_EXTERN_PYTHON_PACKAGES="$tmp" "$tmp/seed" "$tmp/my_package.pt"
        check "or tells what is wrong" 255 "error loading the model" \
            env PATH_TO_EXTERN_PYTHON_PACKAGES="$tmp" "$tmp/seed" "$tmp/none.pt"
        for engine in cpython process; do
            check "behaviours of torch::deploy, $engine" 0 "all hold" \
                "$tmp/behaviours" $engine "$tmp/my_package.pt" "$tmp/$engine.bin" \
                "$tmp/modules"
            holds "the compiled model's bits, $engine" \
                cmp "$tmp/compiled.bin" "$tmp/$engine.bin"
        done
        holds "the same bits in both kinds" cmp "$tmp/cpython.bin" "$tmp/process.bin"
    done
fi
