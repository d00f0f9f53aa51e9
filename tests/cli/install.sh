# An installed tree, found by pkg-config alone.
# SPDX-License-Identifier: Apache-2.0

prefix=$tmp/prefix
if is_sanitized; then
    skip "an installed tree" "programs would need the sanitizer"
else
    holds "cmake --install" cmake --install "$build" --prefix "$prefix"
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ingot.pc)")
    export PKG_CONFIG_PATH
    build_example() {
        # shellcheck disable=SC2046
        cc -O1 "examples/$1.c" $(pkg-config --cflags --libs "$2") \
            -Wl,-rpath,"$(pkg-config --variable=libdir "$2")" -o "$tmp/$1"
    }
    holds "jit builds by pkg-config" build_example jit ingot
    check "jit runs a model written as text" 0 "y: f32[B, 3]" "$tmp/jit"
    check "jit runs a model from memory" 0 "score: f32[batch, 1]" "$tmp/jit" "$tmp/dlrm.onnx"
    holds "server builds by pkg-config, with the runtime alone" \
        build_example server ingot-runtime
    holds "and needs no compiler" sh -c \
        "! ldd '$tmp/server' | grep -q 'libingot\.so\|LLVM\|protobuf\|zip\|jansson'"
    check "server tells its usage" 1 "usage: server" "$tmp/server"
    if [ -e "$build/libingot-interp-cpython.so" ]; then
        # shellcheck disable=SC2046
        holds "interpreters builds" cc -O1 examples/interpreters.c \
            $(pkg-config --cflags --libs ingot-runtime) -lingot-interp -lpthread \
            -Wl,-rpath,"$(pkg-config --variable=libdir ingot-runtime)" -o "$tmp/interpreters"
        # shellcheck disable=SC2046
        holds "deploy builds" cc -O1 examples/deploy.c \
            $(pkg-config --cflags --libs ingot-runtime) -lingot-interp \
            -Wl,-rpath,"$(pkg-config --variable=libdir ingot-runtime)" -o "$tmp/deploy"
        if [ -d "$cases/models/torch/package/seed" ]; then
            check "and runs a package" 0 "f32[1, 64, 2, 2]: 0 0" "$tmp/deploy" \
                "$cases/models/torch/package/seed/my_package.pt"
        else
            skip "a package in an installed tree" "INGOT_CASES has no models/torch"
        fi
        check "and serves Python" 0 "6 calls: sum 216000" "$tmp/interpreters" 2 3
    else
        skip "interpreters" "no libpython for embedding"
    fi
    mkdir -p "$tmp/package"
    cat >"$tmp/package/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES C)
find_package(ingot 0.2 REQUIRED)
add_executable(jit jit.c)
target_link_libraries(jit ingot::ingot)
add_executable(server server.c)
target_link_libraries(server ingot::ingot-runtime)
CMAKE
    cp examples/jit.c examples/server.c "$tmp/package"
    holds "examples build by the CMake package" sh -c "
        cmake -S '$tmp/package' -B '$tmp/package/build' -DCMAKE_PREFIX_PATH='$prefix' &&
        cmake --build '$tmp/package/build'"
    check "and run" 0 "y: f32[B, 3]" "$tmp/package/build/jit"
    holds "and need no compiler to serve" sh -c \
        "! ldd '$tmp/package/build/server' | grep -q 'libingot\.so'"
    check "all places name one version" 0 "" scripts/release --check
    for file in man/man1/ingot.1 bash-completion/completions/ingot \
        zsh/site-functions/_ingot fish/vendor_completions.d/ingot.fish; do
        holds "installed: share/$file" [ -s "$prefix/share/$file" ]
    done
    for file in LICENSE CHANGELOG.md docs/compatibility.md examples/jit.c; do
        holds "installed: share/doc/ingot/$file" [ -s "$prefix/share/doc/ingot/$file" ]
    done
    for library in ingot ingot-runtime ingot-store ingot-lookahead ingot-interp ingot-group \
        ingot-train; do
        holds "pkg-config knows $library" pkg-config --exists --print-errors "$library"
    done
    runtime=$(pkg-config --variable=libdir ingot-runtime)/libingot-runtime.so
    holds "what is installed is stripped" sh -c "[ \$(stat -Lc %s '$runtime') -le 140000 ]"
    check "the installed command works" 0 "  0 2 0 4" \
        "$prefix/bin/ingot" run "$tmp/relu.ig" --no-cache --input 'x=f32[1,4]=-1,2,-3,4'
    # What libraries open by themselves, from beside themselves.
    for file in "$build"/libingot-*.so; do
        case $file in *-stub.so) continue ;; esac # a test's
        [ -L "$file" ] || holds "installed, and opens: ${file##*/}" python3 -c '
import ctypes, os, sys
ctypes.CDLL(sys.argv[1], os.RTLD_NOW)' "$(dirname "$PKG_CONFIG_PATH")/${file##*/}"
    done
    cat >"$tmp/texts.ig" <<'IG'
module @texts {
  graph @main(%f: f32[N]) -> (str[N] "y") {
    %0 = text_print %f : str[N]
    ret %0
  }
}
IG
    cat >"$tmp/image.ig" <<'IG'
module @image {
  graph @main(%x: u8[N]) -> (u8[H, W, 3] "y") {
    %0 = image_decode %x : u8[H, W, 3]
    ret %0
  }
}
IG
    check "strings are there" 0 '"1" "2.5"' \
        "$prefix/bin/ingot" run "$tmp/texts.ig" --no-cache --input 'f=f32[2]=1,2.5'
    check "images are there" 0 "42 42 42" "$prefix/bin/ingot" run "$tmp/image.ig" --no-cache \
        --input 'x=u8[12]=80,53,10,49,32,49,10,50,53,53,10,42'
    check "profiles are there" 0 "an ordinary run" \
        "$prefix/bin/ingot" profile "$tmp/relu.ig" --no-cache --seconds 0.01
    check "captures are there" 0 "" env "INGOT_CAPTURE=$tmp/captures" "$prefix/bin/ingot" run \
        "$tmp/relu.ig" --no-cache --input 'x=f32[1,4]=1'
    holds "and hold the call" sh -c "ls '$tmp'/captures/*/session.json"
    check "debuggers are told" 0 "" env INGOT_PERF=jitdump "INGOT_OBSERVE_DIR=$tmp" \
        "$prefix/bin/ingot" run "$tmp/relu.ig" --no-cache --input 'x=f32[1,4]=1'
    # An installation of its own, since the manifest is of the last one.
    holds "cmake --install elsewhere" cmake --install "$build" --prefix "$tmp/away"
    holds "and uninstall" cmake -D "MANIFEST=$build/install_manifest.txt" -P cmake/uninstall.cmake
    check "leaves no file" 0 "" sh -c "! find '$tmp/away' -type f -o -type l | grep ."
    holds "and no folder of Ingot's" sh -c "! find '$tmp/away' -name ingot -type d | grep ."
fi
