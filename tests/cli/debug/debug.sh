# What gdb and perf know of compiled code: the real ones where the machine lets them, and a
# reader of our own for what is written for them.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/toy.ig" <<'END_OF_MODEL'
module @toy {
  weight @w : f32[4, 3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  graph @main(%x: f32[B, 4], %id: i64[N]) -> (f32[B, 3] "y", f32[N, 4] "rows") {
    %0 = matmul %x, @w : f32[B, 3]
    %1 = relu %0 : f32[B, 3]
    %2 = gather %x, %id {axis = 0} : f32[N, 4]
    ret %1, %2
  }
}
END_OF_MODEL
values=(--input 'x=f32[2,4]=1,2,3,4,5,6,7,8' --input 'id=i64[1]=1')
observed=$tmp/observed

check "debug information is compiled" 0 "" \
    "$ingot" compile "$tmp/toy.ig" --debug -o "$tmp/toy.ingot"
check "or not" 0 "" "$ingot" compile "$tmp/toy.ig" -o "$tmp/plain.ingot"
holds "which others do not hold" sh -c "! '$python' -m zipfile -l '$tmp/plain.ingot' | grep debug/"
holds "an entry of its own has it" sh -c "'$python' -m zipfile -l '$tmp/toy.ingot' | grep debug/cpu-"
check "which strip takes out" 0 "" "$ingot" strip "$tmp/toy.ingot" -o "$tmp/stripped.ingot"
holds "all of it" sh -c "! '$python' -m zipfile -l '$tmp/stripped.ingot' | grep -E 'debug|sources'"
for artifact in toy plain stripped; do
    "$ingot" run "$tmp/$artifact.ingot" "${values[@]}" -o "$tmp/$artifact.npz" >/dev/null 2>&1
done
numpy_holds "all three compute the same bits" "$python" - "$tmp" <<'END_OF_PROGRAM'
import sys
import numpy
a, b, c = (numpy.load(f"{sys.argv[1]}/{n}.npz") for n in ("toy", "plain", "stripped"))
assert all((a[n] == b[n]).all() and (b[n] == c[n]).all() for n in ("y", "rows"))
assert a["y"].tolist() == [[70, 80, 90], [158, 184, 210]], a["y"]
END_OF_PROGRAM

# Files for perf, as their documentation has them.
check "kernels for perf inject" 0 "" env INGOT_PERF=jitdump INGOT_OBSERVE_DIR="$observed" \
    "$ingot" run "$tmp/toy.ingot" "${values[@]}"
holds "with names, code, lines of a text, and how frames unwind" "$python" tests/cli/debug/jitdump.py \
    "$observed" "$tmp/toy.ingot" "dot_relu" "bag"
holds "nobody else may read them" sh -c "! find '$observed' -perm /077 | grep ."
check "names alone without debug information" 0 "" env INGOT_PERF=jitdump \
    INGOT_OBSERVE_DIR="$tmp/names" "$ingot" run "$tmp/stripped.ingot" "${values[@]}"
holds "and the code" "$python" tests/cli/debug/jitdump.py --names "$tmp/names" \
    "$tmp/stripped.ingot" "dot_relu" "bag"
# The process keeps the number of the shell that becomes it.
cat >"$tmp/map.sh" <<'END_OF_SCRIPT'
echo "1000 10 other" >"/tmp/perf-$$.map"
echo $$ >"$1"
shift
INGOT_PERF=map exec "$@"
END_OF_SCRIPT
check "a map for perf report" 0 "" sh "$tmp/map.sh" "$tmp/process" \
    "$ingot" run "$tmp/toy.ingot" "${values[@]}"
map=/tmp/perf-$(cat "$tmp/process").map
holds "has kernels and their nodes behind what was there" sh -c \
    "head -1 '$map' | grep -x '1000 10 other' && grep -E '^[0-9a-f]+ [0-9a-f]+ .*dot_relu' '$map'"
rm -f "$map"
cat >"$tmp/link.sh" <<'END_OF_SCRIPT'
ln -s "$1" "/tmp/perf-$$.map"
echo $$ >"$2"
shift 2
INGOT_PERF=map exec "$@"
END_OF_SCRIPT
check "a link in its place is not followed" 6 "cannot write" sh "$tmp/link.sh" \
    "$tmp/elsewhere" "$tmp/process" "$ingot" run "$tmp/toy.ingot" "${values[@]}"
rm -f "/tmp/perf-$(cat "$tmp/process").map"
holds "and nothing is written there" test ! -e "$tmp/elsewhere"
check "what INGOT_PERF does not know" 3 "'maps' is neither map nor jitdump" \
    env INGOT_PERF=maps "$ingot" run "$tmp/toy.ingot" "${values[@]}"
check "a folder that cannot be" 6 "cannot write" env INGOT_PERF=jitdump \
    INGOT_OBSERVE_DIR="$tmp/toy.ig/x" "$ingot" run "$tmp/toy.ingot" "${values[@]}"
holds "no observer, no library: ordinary runs open none" sh -c \
    "! LD_DEBUG=files '$ingot' run '$tmp/toy.ingot' --input x=f32[1,4]=1 --input id=i64[1]=0 2>&1 |
     grep ingot-observe"

# Debug information that was damaged, or is of other code.
"$python" - "$tmp" <<'END_OF_PROGRAM'
import sys
import zipfile
tmp = sys.argv[1]
bytes_of = {n: open(f"{tmp}/{n}.ingot", "rb").read() for n in ("toy", "plain")}
entry = next(i for i in zipfile.ZipFile(f"{tmp}/toy.ingot").infolist()
             if i.filename.startswith("debug/"))
whole = bytearray(bytes_of["toy"])
at = whole.index(b"ingotDBG")
for name, where in (("magic", 0), ("hash", 60), ("text", entry.file_size // 2), ("code", 24)):
    cut = bytearray(whole)
    cut[at + where] ^= 1
    open(f"{tmp}/bad_{name}.ingot", "wb").write(cut)
END_OF_PROGRAM
for what in magic hash text code; do
    check "damaged debug information: $what" 3 "the debug information is damaged" \
        "$ingot" run "$tmp/bad_$what.ingot" --debug "${values[@]}"
    check "which nobody reads otherwise: $what" 0 "" \
        "$ingot" run "$tmp/bad_$what.ingot" "${values[@]}"
done

# gdb itself.
gdb_batch() {
    local script=$1
    shift
    timeout 600 gdb -nx -batch -iex 'set auto-load off' -x "$script" --args "$@" 2>&1
}
can_trace() {
    command -v gdb >/dev/null &&
        gdb -nx -batch -ex run --args true 2>&1 | grep -q 'exited normally'
}
if is_sanitized; then
    skip "gdb" "a build with sanitizers cannot be traced with its leak checker"
elif ! can_trace; then
    skip "gdb" "there is none, or it may not trace processes here"
else
    cat >"$tmp/kernel.gdb" <<'END_OF_SCRIPT'
set breakpoint pending on
set pagination off
break dot_relu
run
bt
info args
list dot_relu
print *arg0@8
print call->tile_end - call->tile_begin
disas
next
echo line is next\n
info source
finish
continue
END_OF_SCRIPT
    ask_gdb() { # ask_gdb MODEL: what gdb says, into $tmp/gdb
        gdb_batch "$tmp/kernel.gdb" "$ingot" run "$1" "${values[@]}" --debug >"$tmp/gdb"
    }
    for model in toy.ingot toy.ig; do
        ask_gdb "$tmp/$model"
        for words in 'dot_relu (call=0x' 'in run_tiles ' 'in main (' 'arg3 = 4' \
            'kernel @dot_relu(' '$1 = {1, 2, 3, 4, 5, 6, 7, 8}' '$2 = 1' \
            'Dump of assembler code for function dot_relu' 'vfmadd' 'dot_relu.ig' \
            'exited normally'; do
            holds "$model in gdb: $words" grep -F -- "$words" "$tmp/gdb"
        done
        holds "$model: nothing was out of reach" \
            sh -c "! grep -E 'error reading|Cannot access|optimized out' '$tmp/gdb'"
    done
    holds "texts of a program that ended are gone" \
        sh -c "! ls -d \$(sed -n 's/^Compilation directory is //p' '$tmp/gdb') 2>/dev/null"
    ask_gdb "$tmp/stripped.ingot"
    holds "gdb knows nothing of a stripped one" sh -c "! grep 'Breakpoint 1, dot' '$tmp/gdb'"
    cat >"$tmp/environment.gdb" <<'END_OF_SCRIPT'
set breakpoint pending on
break bag
set environment INGOT_DEBUG gdb
run
bt
END_OF_SCRIPT
    gdb_batch "$tmp/environment.gdb" "$ingot" bench "$tmp/toy.ig" --seconds 0.1 >"$tmp/gdb"
    holds "INGOT_DEBUG=gdb does the same" grep -F 'in run_bound' "$tmp/gdb"
    # Every kernel of a real model stops behind its entry, with its arguments there.
    dlrm=$cases/models/onnx/dlrm_criteo_legacy/model.onnx
    if [ -e "$dlrm" ]; then
        "$ingot" dump "$dlrm" --stage kernel | sed -n 's/.*kernel @\([a-z0-9_]*\)(.*/\1/p' \
            >"$tmp/kernels"
        {
            echo 'set breakpoint pending on'
            while read -r kernel; do
                printf 'tbreak %s\ncommands\nsilent\n' "$kernel"
                printf 'printf "%s has %%d tiles\\n", ' "$kernel"
                printf 'call->tile_end - call->tile_begin\ninfo args\ncontinue\nend\n'
            done <"$tmp/kernels"
            echo run
        } >"$tmp/all.gdb"
        # LLVM, which this process does not open, has functions of such names too.
        "$ingot" compile "$dlrm" --debug -o "$tmp/dlrm.ingot" >/dev/null 2>&1
        gdb_batch "$tmp/all.gdb" "$ingot" bench "$tmp/dlrm.ingot" --debug --seconds 0.1 \
            >"$tmp/gdb"
        holds "each of the DLRM's kernels is stopped in" sh -c \
            "test \$(grep -cE 'has [1-9][0-9]* tiles' '$tmp/gdb') = \$(wc -l <'$tmp/kernels')"
        holds "and tells its arguments" sh -c \
            "! grep -E 'error reading|Cannot access|optimized out' '$tmp/gdb'"
    else
        skip "every kernel in gdb" "$cases has no models"
    fi
fi

# perf itself.
can_sample() {
    command -v perf >/dev/null &&
        perf record -q -k mono -o "$tmp/none.data" true >/dev/null 2>&1
}
if is_sanitized; then
    skip "perf" "a build with sanitizers"
elif ! can_sample; then
    skip "perf" "there is none, or it may not sample here"
else
    check "perf records" 0 "" env INGOT_PERF=jitdump INGOT_OBSERVE_DIR="$tmp/perf" \
        perf record -q -k mono -F 4000 -o "$tmp/p.data" \
        "$ingot" bench "$tmp/toy.ingot" --seconds 0.5 --batch 4096
    check "injects" 0 "" perf inject --jit -i "$tmp/p.data" -o "$tmp/p.jit"
    check "reports kernels by name" 0 "dot_relu" perf report --stdio -i "$tmp/p.jit"
    check "and knows their lines" 0 "dot_relu.ig:" \
        perf script -i "$tmp/p.jit" -F ip,sym,srcline
    check "perf copies stacks" 0 "" env INGOT_PERF=jitdump INGOT_OBSERVE_DIR="$tmp/stacks" \
        perf record -q -k mono -F 1000 --call-graph dwarf -o "$tmp/s.data" \
        "$ingot" bench "$tmp/toy.ingot" --seconds 0.5 --batch 4096
    check "injects" 0 "" perf inject --jit -i "$tmp/s.data" -o "$tmp/s.jit"
    perf script -i "$tmp/s.jit" -F ip,sym >"$tmp/stacks.txt" 2>/dev/null
    holds "and unwinds kernels' frames" sh -c \
        "grep -A1 dot_relu '$tmp/stacks.txt' | grep -v dot_relu | grep -q '[0-9a-f]'"
fi
