#!/usr/bin/env bash
# The wheels of build/wheels, installed into an empty environment and used there.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/python/wheels.sh
#
# scripts/wheels builds them; where they are absent or older than what is in them, that is
# one skip.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

skip() {
    echo "skip: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

wheels=$PWD/build/wheels
count=$(find "$wheels" -name '*.whl' 2>/dev/null | wc -l)
[ "$count" -ge 2 ] || skip "no wheels in build/wheels: scripts/wheels builds them"
newer=$(find python runtime driver include -newer "$wheels" -type f -name '*.[chp]*' | head -n 1)
[ -z "$newer" ] || skip "the wheels are older than $newer: scripts/wheels builds them"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit
unset PYTHONPATH LD_LIBRARY_PATH LD_PRELOAD INGOT_PROVIDER_DIR
export INGOT_CACHE_DIR=$folder/cache
if ! python3 -m venv env 2>"$folder/log"; then
    cat "$folder/log"
    skip "python3 makes no environments (python3-venv)"
fi
passed=0
failed=0

# holds WHAT COMMAND…
holds() {
    local what=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what"
        tail -n 20 "$folder/log"
    fi
}

install() {
    env/bin/pip install -q --no-index --find-links "$wheels" "$@"
}

cat >model.ig <<'IG'
module @add {
  graph @main(%x: f32[B, 3], %y: f32[B, 3]) -> (f32[B, 3] "sum") {
    %0 = add %x, %y : f32[B, 3]
    ret %0
  }
}
IG

cat >compile.py <<'PY'
import array
import importlib.metadata
import ingot

x = memoryview(array.array("f", range(6))).cast("B").cast("f", [2, 3])
for isolate in (False, True):
    program = ingot.compile("model.ig", isolate=isolate, cache="")
    assert memoryview(program(x, x)).tolist() == [[0, 2, 4], [6, 8, 10]]
program.save("model.ingot")
with open("/proc/self/maps") as file:
    libraries = {line.split()[-1] for line in file if ".so" in line}
runtimes = {name for name in libraries if "libingot-runtime" in name}
assert len(runtimes) == 1 and "/ingot_runtime/" in runtimes.pop(), libraries
assert not [name for name in libraries if "libLLVM" in name], libraries
outside = [name for name in libraries if "ingot" in name and "/env/lib" not in name]
assert not outside, outside
(entry,) = importlib.metadata.entry_points(group="torch_dynamo_backends", name="ingot")
assert entry.value == "ingot.dynamo:backend"
needs = [one for one in importlib.metadata.requires("ingot") if "extra ==" not in one]
assert needs == ["ingot-runtime==" + ingot.__version__], needs
PY

cat >run.py <<'PY'
import array
import importlib.util
import ingot_runtime

x = memoryview(array.array("f", range(6))).cast("B").cast("f", [2, 3])
program = ingot_runtime.Program("model.ingot")
assert memoryview(program(x, x)).tolist() == [[0, 2, 4], [6, 8, 10]]
assert not importlib.util.find_spec("ingot")
PY

cat >texts.ig <<'IG'
module @texts {
  graph @main(%x: f32[B, 3], %y: f32[B, 3]) -> (bool[B, 3] "same") {
    %0 = text_print %x : str[B, 3]
    %1 = text_print %y : str[B, 3]
    %2 = text_eq %0, %1 : bool[B, 3]
    ret %2
  }
}
IG
cat >image.ig <<'IG'
module @image {
  graph @main(%x: u8[N]) -> (u8[H, W, 3] "y") {
    %0 = image_decode %x : u8[H, W, 3]
    ret %0
  }
}
IG

cat >plugins.py <<'PY'
import array
import ctypes
import os
import pathlib
import ingot
import ingot_runtime

folder = pathlib.Path(ingot_runtime.__file__).parent
for name in ("watch", "capture", "observe", "text", "image", "custom"):
    ctypes.CDLL(str(folder / f"libingot-{name}.so"), os.RTLD_NOW)
x = memoryview(array.array("f", range(6))).cast("B").cast("f", [2, 3])
same = memoryview(ingot.compile("texts.ig", cache="")(x, x)).tolist()
assert same == [[True] * 3] * 2, same
pixel = memoryview(array.array("B", b"P5\n1 1\n255\n*"))
assert memoryview(ingot.compile("image.ig", cache="")(pixel)).tolist() == [[[42, 42, 42]]]
os.environ["INGOT_CAPTURE"] = "captures"
ingot.compile("model.ig", cache="")(x, x)
assert list(pathlib.Path("captures").iterdir())
PY

cat >stores.py <<'PY'
import ctypes
import pathlib
import sys
import ingot

folder = pathlib.Path(ingot.__file__).parent
lib = ctypes.CDLL(str(folder / "libingot-store.so.0"))
lib.ig_store_open.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
store = ctypes.c_void_p()
for url in ("memory://", f"lmdb://{sys.argv[1]}/rows.mdb"):
    assert lib.ig_store_open(url.encode(), None, ctypes.byref(store)) == 0, url
# Nobody listens there: IG_IO (4), as its type is known.
assert lib.ig_store_open(b"redis://127.0.0.1:1/?retry_limit=0", None, ctypes.byref(store)) == 4
PY

holds "they install" install ingot
holds "a model is compiled and run" env/bin/python compile.py
holds "plug-ins are there" env/bin/python plugins.py
holds "the command is there" sh -c 'env/bin/ingot run model.ig --input "x=f32[1,3]=1,2,3" \
    --input "y=f32[1,3]=1,1,1" | grep -x "  2 3 4"'
holds "stores are there" env/bin/python stores.py "$folder"
holds "one is removed" env/bin/pip uninstall -q -y ingot
holds "the runtime works alone" env/bin/python run.py

# torch finds the backend by its entry point, whether ingot.dynamo is imported or not.
cat >backend.py <<'PY'
import sys
import torch
if len(sys.argv) > 1:
    import ingot.dynamo  # noqa: F401
compiled = torch.compile(torch.relu, backend="ingot")
with torch.no_grad():
    assert compiled(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]
import ingot
assert ingot.__file__.startswith(sys.path[0] + "/packages"), ingot.__file__
PY
python=${INGOT_PEERS:+$INGOT_PEERS/bin/python}
if [ -n "$python" ] && "$python" -c "import torch" 2>/dev/null; then
    holds "they install into a folder" install --no-deps --target packages ingot ingot-runtime
    export PYTHONPATH=$folder/packages
    holds "torch finds the backend" "$python" -W ignore backend.py
    holds "and after its import" "$python" -W ignore backend.py import
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
