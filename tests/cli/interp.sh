# Packages whose Python runs in embedded interpreters: verify --interpreter.
# SPDX-License-Identifier: Apache-2.0

packages=$cases/models/torch/package
engine=cpython
if is_sanitized; then
    engine=process
fi
if [ ! -e "$build/libingot-interp-cpython.so" ]; then
    skip "interpreters" "no libpython for embedding"
elif [ ! -d "$packages" ]; then
    skip "packages in interpreters" "INGOT_CASES has no models/torch"
else
    run_package() { # run_package FOLDER…
        "$ingot" verify --interpreter $engine --modules "$tmp/modules" "$@"
    }
    check "packages run in an interpreter" 0 "5 passed, 0 failed, 0 skipped" \
        run_package "$packages/user_code" "$packages/fx_graph_module" "$packages/seed" \
        "$cases/models/torch/old/1.13.1/package/user_code" \
        "$cases/models/torch/old/2.6.0/package/user_code"
    check "and in a process of its own" 0 "1 passed" \
        "$ingot" verify --interpreter process "$packages/user_code"
    check "a module of the user's is missing" 1 "No module named 'mynet'" \
        run_package "$packages/extern_user"
    mkdir -p "$tmp/modules/mynet"
    for file in net layers; do
        python3 -m zipfile -e "$packages/user_code/package.pt" "$tmp/unpacked"
        cp "$tmp/unpacked/package/mynet/$file.py" "$tmp/modules/mynet/"
    done
    check "and is found in his folder" 0 "1 passed" run_package "$packages/extern_user"
    if /usr/bin/python3 -c "import numpy" 2>/dev/null; then
        check "numpy and a mocked module" 0 "1 passed" \
            run_package "$packages/extern_numpy_mock"
    else
        skip "numpy in a package" "no python3-numpy"
    fi
    torch_folder=
    for one in ${PYTHON:-} ${INGOT_PEERS:+"$INGOT_PEERS/bin/python"} python3; do
        torch_folder=$("$one" -c "
import importlib.util, os, sys
found = '%d.%d' % sys.version_info[:2] == '$(pkg-config --modversion python3-embed)'
spec = found and importlib.util.find_spec('torch')
print(os.path.dirname(os.path.dirname(spec.origin)) if spec else '')" 2>/dev/null)
        [ -z "$torch_folder" ] || break
    done
    if [ -n "$torch_folder" ] && ! is_sanitized; then
        check "packages run with PyTorch itself" 0 "4 passed, 0 failed, 0 skipped" \
            "$ingot" verify --interpreter cpython --modules "$torch_folder" \
            "$packages/user_code" "$packages/fx_graph_module" "$packages/seed" \
            "$packages/stock_layers"
    else
        skip "packages with PyTorch itself" "no torch of the library's Python"
    fi
    cp -r "$packages/user_code" "$tmp/wrong"
    cp "$tmp/wrong/test_data_set_0/output_0.npy" "$tmp/wrong/test_data_set_3/output_0.npy"
    check "a wrong result is told by its place" 1 \
        "test_data_set_3: the result[1]: got f32[2, 4], want f32[3, 4]" \
        run_package "$tmp/wrong"
    if is_sanitized; then
        skip "bench of interpreters" "a build with sanitizers has no link namespaces"
    else
        bench_package() { # bench_package FOLDER RESOURCE INPUT [OPTION…]
            "$ingot" bench "$packages/$1" --interpreters 2 --seconds 0.05 --resource "$2" \
                --input "$3" "${@:4}"
        }
        rows() { # the strategies that the table holds
            bench_package "$@" --json 2>/dev/null |
                python3 -c 'import json, sys
print(*(r["strategy"] for r in json.load(sys.stdin)["results"] if 0 < r["p25"] <= r["p95"]))'
        }
        holds "bench compares Python with what is compiled" [ \
            "$(rows seed/my_package.pt model/model.pkl 'input=f32[1,1,10,10]=random')" = \
            "one_python multi_python compiled" ]
        holds "of the user's classes too" [ \
            "$(rows user_code/package.pt models/net.pkl 'x=f32[3,8]=random')" = \
            "one_python multi_python compiled" ]
        # What is not plain enough stays Python: a try statement in forward.
        python3 - "$packages/user_code/package.pt" "$tmp/tries.pt" <<'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w") as new:
    for name in old.namelist():
        text = old.read(name)
        if name.endswith("mynet/net.py"):
            text = text.replace(b"        n = 0\n",
                                b"        try:\n            n = 0\n        finally: pass\n")
        new.writestr(name, text)
END
        packages=$tmp
        holds "or is Python's alone" [ \
            "$(rows tries.pt models/net.pkl 'x=f32[3,8]=random')" = \
            "one_python multi_python" ]
        check "which says why" 0 "in 'mynet.net.Net.forward': a try statement" \
            bench_package tries.pt models/net.pkl 'x=f32[3,8]=random'
        packages=$cases/models/torch/package
        check "compile says what stays Python" 4 "mynet.net.Net.forward stays Python" \
            "$ingot" compile "$tmp/tries.pt" --resource models/net.pkl --input 'x=f32[3,8]' \
            -o "$tmp/tries.ingot"
        check "and what is compiled" 0 "compiled: mynet.net.Net, mynet.layers.Scale (3)" \
            "$ingot" compile "$packages/user_code/package.pt" --resource models/net.pkl \
            --input 'x=f32[3,8]' -o "$tmp/plain.ingot"
        check "a table for people" 0 "multi_python       2" \
            bench_package seed/my_package.pt model/model.pkl 'input=f32[1,1,10,10]=random'
        check "a call that fails ends it" 3 "windows do not fit" \
            bench_package seed/my_package.pt model/model.pkl 'input=f32[1,1,1,10]=random'
    fi
    check "bench of interpreters needs a resource" 2 "needs --resource" \
        "$ingot" bench "$packages/user_code/package.pt" --interpreters 2
    check "another engine" 2 "--interpreter takes cpython|process, not 'ruby'" \
        "$ingot" verify --interpreter ruby "$packages/user_code"
fi

# ---- Lua before and after a call ----

if [ ! -e "$build/libingot-interp-lua.so" ]; then
    skip "ingot run --script" "no liblua5.4"
else
    printf '%s\n' 'local ingot = require "ingot"' 'function pre(inputs)' \
        '  inputs.x = ingot.tensor("f32", {1, 4}, {-1, 2, -3, 4})' '  return inputs' 'end' \
        'function post(outputs)' '  local best, at = -1, 0' \
        '  for _, y in pairs(outputs) do' '    for i = 1, #y do' \
        '      if y[i] > best then best, at = y[i], i end' '    end' '  end' \
        '  return {label = ingot.tensor("i64", {1}, {at}), score = ingot.tensor("f32", {1}, {best})}' \
        'end' >"$tmp/hooks.lua"
    run_script() { # run_script SCRIPT [OPTION…]
        printf '%s\n' "$1" >"$tmp/one.lua"
        "$ingot" run "$tmp/relu.ig" --script "$tmp/one.lua" "${@:2}"
    }
    check "a script makes inputs and reads outputs" 0 "label: i64[1]
  4
score: f32[1]
  4" "$ingot" run "$tmp/relu.ig" --script "$tmp/hooks.lua"
    check "as JSON too" 0 '"label"' "$ingot" run "$tmp/relu.ig" --script "$tmp/hooks.lua" --json
    check "on the interpreter" 0 "label: i64[1]" \
        "$ingot" run "$tmp/relu.ig" --script "$tmp/hooks.lua" --target interpret
    check "pre alone changes what is given" 0 "3 0 0 1" run_script \
        'function pre(i) i.x[1] = 3 return i end' --input 'x=f32[1,4]=-1,-2,-3,1'
    check "post alone" 0 "1 0 0 9" run_script \
        'function post(o) for _, y in pairs(o) do y[4] = 9 end return o end' \
        --input 'x=f32[1,4]=1,-2,-3,1'
    check "outputs go to files" 0 "" "$ingot" run "$tmp/relu.ig" --script "$tmp/hooks.lua" \
        -o "$tmp/hooks"
    holds "of the script's names" [ -e "$tmp/hooks/label.npy" -a -e "$tmp/hooks/score.npy" ]
    check "an input that neither gives" 3 "1 of 1 inputs have no value" \
        run_script 'function post(o) return o end'
    check "a name that the model has not" 3 "gives 'z', which is not an input" \
        run_script 'function pre(i) return {z = i.x} end' --input 'x=f32[1,4]=1'
    check "no table of tensors" 3 "post of the script gives no table" \
        run_script 'function post(o) return 3 end' --input 'x=f32[1,4]=1'
    check "an error is told by its line" 3 "one.lua:1: no" \
        run_script 'function pre(i) error("no") end' --input 'x=f32[1,4]=1'
    check "an endless script ends by its budget" 5 "instructions" \
        run_script 'function pre(i) while true do end end' --input 'x=f32[1,4]=1'
    check "a script without either" 3 "defines neither" run_script 'x = 1'
    check "no files there" 3 "attempt to index a nil value" \
        run_script 'function pre(i) io.open("x") end' --input 'x=f32[1,4]=1'
    check "a script that is not there" 6 "cannot be read" \
        "$ingot" run "$tmp/relu.ig" --script "$tmp/none.lua"
fi

# ---- artifacts in scripts of Lua ----

if is_sanitized; then
    skip "artifacts in Lua" "programs would need the sanitizer"
elif [ ! -e "$build/libingot-interp-lua.so" ]; then
    skip "artifacts in Lua" "no liblua5.4"
else
    mkdir -p "$tmp/lua"
    "$ingot" compile "$tmp/relu.ig" -q -o "$tmp/lua/relu.ingot"
    head -c 2000 "$tmp/lua/relu.ingot" >"$tmp/lua/cut.ingot"
    holds "a host of Lua builds" cc -O1 -Wall -Wextra -Werror -Iinclude \
        tests/cli/deploy/lua_host.c -L"$build" -lingot-interp \
        -Wl,-rpath,"$(realpath "$build")" -o "$tmp/lua_host"
    script() { # script LINE…: in the function f, where p is the artifact
        "$tmp/lua_host" "$tmp/lua" "local ingot = require 'ingot'
function f()
  local p = ingot.open('relu.ingot')
  local x = ingot.tensor('f32', {1, 4}, {-1, 2, -3, 4})
$(printf '  %s\n' "$@")
end"
    }
    check "a script runs an artifact" 0 "0.0,2.0,0.0,4.0" \
        script "return table.concat(p(x):totable(), ',')"
    check "and again, with a result of its own" 0 "4.0 0.0" \
        script "local y = p(x)" "x[4] = -1" "local z = p(x)" \
        "return y[4] .. ' ' .. z[4]"
    check "it says what it takes" 0 "x f32[" \
        script "local i = p:inputs()[1]" "return i.name .. ' ' .. i.type"
    check "tensors are counted" 1 "the program takes 1 tensors, not 2" \
        script "return p(x, x)"
    check "and are tensors" 1 "is given no tensor" script "return p(3)"
    check "a shape that it does not take" 1 "must be f32[B, 4], but was given f64[1, 4]" \
        script "return p(ingot.tensor('f64', {1, 4}))"
    check "no file of another folder" 1 "artifact '../relu.ig' is not found" \
        script "return ingot.open('../relu.ig')"
    check "a damaged one is told" 1 "artifact 'cut.ingot': not an artifact, or damaged" script "return ingot.open('cut.ingot')"
    check "its metatable stays hidden" 0 "false nil" \
        script "return tostring(getmetatable(p)) .. ' ' .. tostring(p.__gc)"
    check "opening without end ends by memory or is collected" 0 "all" \
        script "for i = 1, 2000 do ingot.open('relu.ingot') end" "return 'all'"
fi
