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
        check "and runs as its documentation has it" 0 "[ CPUFloatType{1,5,2,2} ]" \
            env PATH_TO_EXTERN_PYTHON_PACKAGES="$tmp" "$tmp/seed" "$tmp/my_package.pt"
        check "or tells what is wrong" 255 "error loading the model" \
            env PATH_TO_EXTERN_PYTHON_PACKAGES="$tmp" "$tmp/seed" "$tmp/none.pt"
        for engine in cpython process; do
            check "behaviours of torch::deploy, $engine" 0 "all hold" \
                "$tmp/behaviours" $engine "$tmp/my_package.pt" "$tmp/$engine.bin"
            # A convolution whose weights are constants sums in another order than one
            # whose weights are arguments, as those of layers in Python are.
            holds "the compiled model's numbers, $engine" python3 -c "
import array, sys
a, b = (array.array('f', open(name, 'rb').read()) for name in sys.argv[1:])
near = (abs(x - y) <= 1e-6 + 1e-5 * abs(x) for x, y in zip(a, b))
sys.exit(not (len(a) == len(b) > 0 and all(near)))" "$tmp/compiled.bin" "$tmp/$engine.bin"
        done
        holds "the same bits in both kinds" cmp "$tmp/cpython.bin" "$tmp/process.bin"
    done
fi
