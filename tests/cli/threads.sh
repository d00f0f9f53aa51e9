# The same bits for any number of threads, whatever the batch; near the interpreter's.
# SPDX-License-Identifier: Apache-2.0

# The numbers of two --json results lie within 1e-5 of each other.
near() {
    python3 - "$1" "$2" <<'END'
import re, sys
one, two = (re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", open(name).read())
            for name in sys.argv[1:])
sys.exit(not one or len(one) != len(two) or
         any(abs(float(a) - float(b)) > 1e-5 for a, b in zip(one, two)))
END
}

towers() { # towers NAME BATCHES WIDTH…
    local name=$1 batches=$2 batch threads time
    shift 2
    python3 tests/cli/models/towers.py "$@" >"$tmp/$name.ig"
    check "$name compiles" 0 "" "$ingot" compile "$tmp/$name.ig" -o "$tmp/$name.ingot"
    for batch in $batches; do
        local x="x=f32[$batch,$1]=random"
        "$ingot" run "$tmp/$name.ingot" --input "$x" --json >"$tmp/one"
        "$ingot" run "$tmp/$name.ig" -t interpret --input "$x" --json >"$tmp/more"
        holds "$name, batch $batch: near the interpreter's" near "$tmp/one" "$tmp/more"
        for threads in 2 3 4 7; do
            for time in 1 2 3; do
                "$ingot" run "$tmp/$name.ingot" --input "$x" --json --threads $threads \
                    >"$tmp/more"
                cmp -s "$tmp/one" "$tmp/more" || break
            done
            holds "$name, batch $batch: $threads threads give the same bits" \
                cmp "$tmp/one" "$tmp/more"
        done
    done
}

towers "towers" "1 3 13 29 57 129 200 1024" 7 100 72 24 64 192 3
towers "wide towers" "5 113 300" 64 512 256 33 700 5
