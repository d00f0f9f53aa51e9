# Ctrl-C: nothing is left, and the status says so.
# SPDX-License-Identifier: Apache-2.0

# Enough kernels that compiling takes a while: every level.
all=cpu:v2,v3,v4,v4-vnni
mkdir "$tmp/stopped"
for after in 0.05 0.2 0.5; do
    interrupt $after 1 "$ingot" compile "$tmp/dlrm.onnx" --no-cache -q -t $all \
        -o "$tmp/stopped/x.ingot" >"$tmp/words" 2>&1
    status=$?
    if [ "$status" = 0 ]; then
        skip "Ctrl-C after $after s" "it was done by then"
        rm -f "$tmp/stopped/x.ingot"
        continue
    fi
    holds "Ctrl-C after $after s is 130" [ "$status" = 130 ]
    holds "and says so" grep -q '^error: interrupted$' "$tmp/words"
    holds "and leaves nothing" only "$tmp/stopped"
done
interrupt 0.2 1 "$ingot" compile "$tmp/dlrm.onnx" --no-cache -q -t $all --isolate \
    -o "$tmp/stopped/x.ingot" >"$tmp/out" 2>&1
holds "Ctrl-C ends a child process too" [ $? = 130 ]
holds "and leaves nothing of it" only "$tmp/stopped"
begin=$(date +%s%N)
interrupt 0.2 2 "$ingot" compile "$tmp/dlrm.onnx" --no-cache -q -t $all \
    -o "$tmp/stopped/x.ingot" >"$tmp/out" 2>&1
holds "a second Ctrl-C is 130" [ $? = 130 ]
took=$((($(date +%s%N) - begin) / 1000000))
if is_sanitized; then
    skip "a second Ctrl-C exits at once" "sanitizers take time to exit"
else
    holds "at once ($took ms)" [ "$took" -lt 1000 ]
fi
