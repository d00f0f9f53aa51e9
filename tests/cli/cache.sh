# The caches: what they save, and that nothing depends on them.
# SPDX-License-Identifier: Apache-2.0

export INGOT_CACHE_DIR=$tmp/own-cache
compile() {
    "$ingot" compile "$tmp/dlrm.onnx" -q -o "$1" "${@:2}"
}
compile "$tmp/cold.ingot"
LD_DEBUG=files LD_DEBUG_OUTPUT=$tmp/warm.log compile "$tmp/warm.ingot"
holds "from the cache comes the same artifact" cmp "$tmp/cold.ingot" "$tmp/warm.ingot"
holds "the log of libraries was written" grep -q libingot "$tmp"/warm.log.*
holds "and LLVM is not opened" sh -c "! grep -q libLLVM '$tmp'/warm.log.*"
rm -r "$tmp/own-cache/models"
LD_DEBUG=files LD_DEBUG_OUTPUT=$tmp/kernels.log compile "$tmp/warm.ingot"
holds "the kernels alone make the same artifact" cmp "$tmp/cold.ingot" "$tmp/warm.ingot"
holds "without opening LLVM" sh -c "! grep -q libLLVM '$tmp'/kernels.log.*"
compile "$tmp/none.ingot" --no-cache
holds "without a cache comes the same artifact" cmp "$tmp/cold.ingot" "$tmp/none.ingot"
compile "$tmp/child.ingot" --no-cache --isolate
holds "in a child process too" cmp "$tmp/cold.ingot" "$tmp/child.ingot"
INGOT_CACHE_DIR='' compile "$tmp/none.ingot"
holds "an empty name means no cache" cmp "$tmp/cold.ingot" "$tmp/none.ingot"
holds "the artifact is no link into the cache" \
    [ "$(stat -c %h "$tmp/cold.ingot")" = 1 ]
compile "$tmp/scribbled.ingot"
dd if=/dev/zero of="$tmp/scribbled.ingot" bs=4096 count=4 conv=notrunc status=none
compile "$tmp/warm.ingot"
holds "and shares no bytes that could change with it" cmp "$tmp/cold.ingot" "$tmp/warm.ingot"
touch -d '2001-01-01' "$tmp"/own-cache/models/*.ingot
rm -r "$tmp/own-cache/kernels"
LD_DEBUG=files LD_DEBUG_OUTPUT=$tmp/touched.log compile "$tmp/warm.ingot"
holds "an entry of another time is good when its bytes are" cmp "$tmp/cold.ingot" "$tmp/warm.ingot"
holds "and taken" sh -c "! grep -q libLLVM '$tmp'/touched.log.*"
INGOT_CACHE_DIR=$tmp/spare-cache compile "$tmp/warm.ingot" # kernels, to be damaged
cp -r "$tmp/spare-cache/kernels" "$tmp/own-cache/"

# Options are part of the key.
compile "$tmp/clamped.ingot" --clamp-ids
holds "an option makes another artifact" sh -c "! cmp -s '$tmp/cold.ingot' '$tmp/clamped.ingot'"

# An artifact names nodes: the same graph by other names is another one.
mkdir -p "$tmp/names"
python3 tests/cli/files/tiny_onnx.py "$tmp/names/range.onnx" range
"$ingot" run "$tmp/names/range.onnx" --input 'x=i64[]=3' >"$tmp/out" 2>&1
sed -i 's/the_node/an_other/' "$tmp/names/range.onnx"
check "errors name the nodes of the model at hand" 3 "node 1 'an_other' (Range)" \
    "$ingot" run "$tmp/names/range.onnx" --input 'x=i64[]=3'

# Damaged entries are made again.
for file in "$tmp"/own-cache/kernels/*; do
    printf 'x' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 3)) conv=notrunc \
        status=none
done
for file in "$tmp"/own-cache/models/*.ingot; do
    printf 'xxxx' | dd of="$file" bs=1 seek=400 conv=notrunc status=none
done
compile "$tmp/again.ingot"
holds "damaged entries are not used" cmp "$tmp/cold.ingot" "$tmp/again.ingot"
: >"$tmp/own-cache/models/$(ls "$tmp/own-cache/models" | grep -m1 'ingot$')"
compile "$tmp/again.ingot"
holds "nor are empty ones" cmp "$tmp/cold.ingot" "$tmp/again.ingot"
for file in "$tmp"/own-cache/models/*.ingot; do # cut short, though its time is as it was
    touch -r "$file" "$tmp/time"
    truncate -s -64 "$file"
    touch -r "$tmp/time" "$file"
done
compile "$tmp/again.ingot"
holds "nor are short ones" cmp "$tmp/cold.ingot" "$tmp/again.ingot"

# Folders that cannot be used.
INGOT_CACHE_DIR=/proc/ingot-cache compile "$tmp/again.ingot"
holds "a folder that cannot be made is no error" cmp "$tmp/cold.ingot" "$tmp/again.ingot"
INGOT_CACHE_DIR=$tmp/dlrm.onnx compile "$tmp/again.ingot"
holds "a file in its place is no error" cmp "$tmp/cold.ingot" "$tmp/again.ingot"
mkdir -m 777 "$tmp/shared-cache"
chmod 777 "$tmp/shared-cache"
INGOT_CACHE_DIR=$tmp/shared-cache compile "$tmp/again.ingot"
holds "a folder that others may write is not used" only "$tmp/shared-cache"
mkdir "$tmp/locked-cache"
chmod 555 "$tmp/locked-cache"
if [ "$(id -u)" = 0 ]; then
    if unshare -rm mount --bind -o ro "$tmp/locked-cache" "$tmp/locked-cache" 2>/dev/null; then
        check "a read-only cache is no error" 0 "" unshare -rm bash -c "
            mount --bind '$tmp/locked-cache' '$tmp/locked-cache' &&
            mount -o remount,ro,bind '$tmp/locked-cache' &&
            INGOT_CACHE_DIR='$tmp/locked-cache' '$ingot' compile '$tmp/dlrm.onnx' -q \
                -o '$tmp/again.ingot' && cmp '$tmp/cold.ingot' '$tmp/again.ingot'"
    else
        skip "a read-only cache" "root may write anywhere, and no mounts are allowed"
    fi
else
    INGOT_CACHE_DIR=$tmp/locked-cache compile "$tmp/again.ingot"
    holds "a read-only cache is no error" cmp "$tmp/cold.ingot" "$tmp/again.ingot"
fi
holds "and nothing is left there" only "$tmp/locked-cache"

# A small limit: entries go, results stay.
INGOT_CACHE_BYTES=1000 INGOT_CACHE_DIR=$tmp/small-cache compile "$tmp/again.ingot"
holds "what is larger than the cache is not kept" absent "$tmp/small-cache/models"

# Many at once.
for copy in 1 2 3 4; do
    INGOT_CACHE_DIR=$tmp/busy-cache compile "$tmp/busy$copy.ingot" &
done
wait
for copy in 1 2 3 4; do
    holds "compilers at the same time, $copy" cmp "$tmp/cold.ingot" "$tmp/busy$copy.ingot"
done
export INGOT_CACHE_DIR=$tmp/cache

# Large weights are read where they lie, also by a program for this process alone.
size=33554432
truncate -s $size "$tmp/wide.bin"
last_row() {
    printf "$1" | dd of="$tmp/wide.bin" bs=4 seek=$((size / 4 - 1)) conv=notrunc status=none
}
last_row '\0\0\200\77'
cat >"$tmp/wide.ig" <<IG
module @wide {
  symbol N {min = 0}
  weight @t : f32[$((size / 16)), 4] = file("wide.bin", 0, $size)
  graph @main(%ids: i64[N]) -> (f32[N, 4] "y") {
    %0 = gather @t, %ids {axis = 0, negative = wrap} : f32[N, 4]
    ret %0
  }
}
IG
export INGOT_CACHE_DIR=$tmp/wide-cache
check "a large table is run" 0 " 0 0 1" "$ingot" run "$tmp/wide.ig" --input 'ids=[-1]'
holds "and not copied into the cache" [ "$(du -sk "$tmp/wide-cache" | cut -f1)" -lt 1000 ]
check "from the cache too" 0 " 0 0 1" "$ingot" run "$tmp/wide.ig" --input 'ids=[-1]'
last_row '\0\0\0\100'
check "what changed in the file is seen" 0 " 0 0 2" \
    "$ingot" run "$tmp/wide.ig" --input 'ids=[-1]'
export INGOT_CACHE_DIR=$tmp/one-cache
"$ingot" compile "$tmp/wide.ig" -q -o "$tmp/wide.ingot"
check "an entry with its weights serves a run" 0 " 0 0 2" \
    "$ingot" run "$tmp/wide.ig" --input 'ids=[-1]'
holds "which adds no other" [ "$(ls "$tmp/one-cache/models" | grep -c 'ingot$')" = 1 ]
rm -f "$tmp/wide.bin" "$tmp/wide.ingot"

# Damaged weights are noticed before a program for this process uses them.
export INGOT_CACHE_DIR=$tmp/jit-cache
run_dlrm() {
    "$ingot" run "$tmp/dlrm.onnx" -q --inputs "$tmp/in" -o "$1"
}
run_dlrm "$tmp/good.npz"
for offset in 300000 250000 200000 150000; do
    for file in "$tmp"/jit-cache/models/*.ingot; do
        printf '\377\377\377\377' | dd of="$file" bs=1 seek=$offset conv=notrunc status=none
    done
    run_dlrm "$tmp/damaged.npz"
    holds "a cached program whose byte $offset was changed is made again" \
        cmp "$tmp/good.npz" "$tmp/damaged.npz"
done

# Nobody else can read the cache, or have written it.
modes() {
    find "$1" -printf '%y %m\n' | sort -u | tr '\n' ' '
}
holds "folders are 0700 and entries 0600" [ "$(modes "$tmp/jit-cache")" = "d 700 f 600 " ]
(umask 000 && INGOT_CACHE_DIR=$tmp/umask-cache run_dlrm "$tmp/good.npz")
holds "whatever the umask is" [ "$(modes "$tmp/umask-cache")" = "d 700 f 600 " ]
for kind in models kernels; do
    rm -rf "$tmp/open-cache"
    mkdir -m 700 "$tmp/open-cache"
    mkdir "$tmp/open-cache/$kind"
    chmod 777 "$tmp/open-cache/$kind"
    INGOT_CACHE_DIR=$tmp/open-cache run_dlrm "$tmp/again.npz"
    holds "a folder inside that others may write is not used: $kind" only "$tmp/open-cache/$kind"
    holds "and the result is right: $kind" cmp "$tmp/good.npz" "$tmp/again.npz"
done
# An entry that is a link, or that others may write, is not followed.
for file in "$tmp"/jit-cache/models/*.ingot; do
    mv "$file" "$tmp/elsewhere" && ln -s "$tmp/elsewhere" "$file"
done
run_dlrm "$tmp/again.npz"
holds "an entry that was a link is made anew" sh -c \
    "cmp '$tmp/good.npz' '$tmp/again.npz' && ! find '$tmp/jit-cache' -type l | grep ."
chmod 666 "$tmp"/jit-cache/models/*
run_dlrm "$tmp/again.npz"
holds "so is one that others may write" [ "$(modes "$tmp/jit-cache")" = "d 700 f 600 " ]
mkdir -m 755 "$tmp/readable-cache"
INGOT_CACHE_DIR=$tmp/readable-cache run_dlrm "$tmp/again.npz"
holds "a folder that others could read is closed" \
    [ "$(stat -c %a "$tmp/readable-cache")" = 700 ]
INGOT_CACHE_DIR=$tmp/shared-cache check "a folder that is not used is told" 0 \
    "this cache folder is not used: other users may write to it" \
    "$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=0'

# What is in it, and emptying it.
check "the cache tells its folder" 0 "$tmp/jit-cache" "$ingot" cache info
check "and what it holds" 0 "compiled models" "$ingot" cache info
"$ingot" cache info --json >"$tmp/json"
holds "as JSON" python3 -c '
import json, sys
cache = json.load(open(sys.argv[1]))
assert cache["is_used"] and cache["models"]["entries"] == 2, cache
assert cache["models"]["bytes"] > 100000 and cache["kernels"]["entries"] > 1, cache
' "$tmp/json"
check "it can be emptied" 0 "kernels         0 entries" "$ingot" cache clear
holds "and is empty" [ -z "$(find "$tmp/jit-cache" -type f)" ]
check "twice" 0 "" "$ingot" cache clear
INGOT_CACHE_DIR='' check "no folder is told" 0 "not used: no folder is set" "$ingot" cache info
INGOT_CACHE_DIR=$tmp/shared-cache check "another's is not emptied" 6 "nothing in it is removed" \
    "$ingot" cache clear
check "another word is wrong usage" 2 "takes info or clear" "$ingot" cache flush
export INGOT_CACHE_DIR=$tmp/cache

# Large weights that kernels want packed are kept once, whoever comes first.
cat >"$tmp/large.py" <<'PY'
import struct, sys
sys.path.insert(0, "tests/cli/files")
sys.argv = ["tiny_onnx.py", sys.argv[1], "relu"]
from tiny_onnx import F32, field, model, node, tensor, value
rows = b"".join(struct.pack("<f", i % 97 / 97) for i in range(1024)) * 4608
weight = field(1, 4608) + field(1, 1024) + field(2, F32) + field(8, "w") + field(9, rows)
open(sys.argv[1], "wb").write(model([value("x", tensor(F32, ["B", 4608]))],
                                    value("y", tensor(F32, ["B", 1024])),
                                    node("MatMul", ["x", "w"]), [weight]))
PY
python3 "$tmp/large.py" "$tmp/large.onnx"
one=$(($(stat -c %s "$tmp/large.onnx") / 1024))
for first in run compile; do
    export INGOT_CACHE_DIR=$tmp/cache-$first
    large_run="$ingot run $tmp/large.onnx --input x=f32[1,4608]=1 -q -o $tmp/large.npz"
    large_compile="$ingot compile $tmp/large.onnx -q -o $tmp/large.ingot"
    if [ $first = run ]; then order=("$large_run" "$large_compile"); else order=("$large_compile" "$large_run"); fi
    for command in "${order[@]}" "$large_run"; do
        holds "$first first: $(cut -d' ' -f2 <<<"$command")" $command
    done
    kept=$(du -sk "$INGOT_CACHE_DIR" | cut -f1)
    holds "$first first: weights are kept once ($kept of $one KiB)" [ "$kept" -lt $((one * 3 / 2)) ]
done
: >"$tmp/no-folder"
INGOT_CACHE_DIR=$tmp/no-folder "$ingot" run "$tmp/large.onnx" --input 'x=f32[1,4608]=1' \
    -o "$tmp/large.npz" 2>"$tmp/out"
holds "a folder that is not used is said once" [ "$(grep -c 'not used' "$tmp/out")" = 1 ]
export INGOT_CACHE_DIR=$tmp/cache

# A file of the same size, time and inode as before is not the same file.
mkdir "$tmp/replaced"
head -c 2097152 /dev/zero >"$tmp/replaced/w.bin"
tr '\0' '\100' <"$tmp/replaced/w.bin" >"$tmp/replaced/two.bin"
touch -d 2001-01-01 "$tmp"/replaced/*.bin
cat >"$tmp/replaced/m.ig" <<'E'
module @replaced {
  weight @w : f32[524288] = file("w.bin", 0, 2097152)
  graph @main(%x: f32[524288]) -> (f32[1]) {
    %0 = add %x, @w : f32[524288]
    %1 = slice %0 {starts = [0], sizes = [1]} : f32[1]
    ret %1
  }
}
E
first_of_replaced() {
    "$ingot" run -q "$tmp/replaced/m.ig" --input 'x=f32[524288]=0' | tail -1
}
sleep 3 # what changed lately may change again within a tick of the clock
check "the first weights" 0 "0" first_of_replaced
cp -p "$tmp/replaced/two.bin" "$tmp/replaced/w.bin"
check "weights with the same old time are read again" 0 "3.00" first_of_replaced

# Several processes that empty one cache do not count what another removed as left.
mkdir -p "$tmp/emptied/models" && chmod -R 700 "$tmp/emptied"
(cd "$tmp/emptied/models" && seq -f '%032g' 1 4000 | xargs touch)
for i in 1 2 3 4; do
    INGOT_CACHE_DIR=$tmp/emptied "$ingot" cache clear >"$tmp/clear$i" 2>&1 || echo "$i failed" &
done >"$tmp/clears"
wait
holds "caches are emptied side by side" test ! -s "$tmp/clears"
