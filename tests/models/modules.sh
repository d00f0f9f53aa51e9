# A torch.package of every torch.nn class that is known, against torch's own numbers.
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run.sh.  Needs a torch (INGOT_PEERS); all classes on the interpreter, with
# INGOT_FULL=1 compiled as well.

torch_modules() {
    local python target peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    local targets=interpret cases
    if ! python=$(python_for torch "$peers/bin/python" python3); then
        skip 1 "no torch to write packages of torch.nn's classes (INGOT_PEERS)"
        return
    fi
    if ! PYTHONDONTWRITEBYTECODE=1 "$python" tests/models/gen/nn_modules.py \
        "$folder/modules" >"$folder/modules.log" 2>&1; then
        failed=$((failed + 1))
        echo "FAIL nn_modules.py"
        tail -n 3 "$folder/modules.log"
        return
    fi
    mapfile -t cases < <(find "$folder/modules" -mindepth 1 -maxdepth 1 | sort)
    [ "$full" = 0 ] || targets="interpret cpu"
    for target in $targets; do
        verify static "$target" "${cases[@]}"
    done
}

# Scripted programs that use the language, against torch's own interpreter.
torch_programs() {
    local python cases peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    if ! python=$(python_for torch "$peers/bin/python" python3); then
        skip 1 "no torch to write scripted programs (INGOT_PEERS)"
        return
    fi
    if ! PYTHONDONTWRITEBYTECODE=1 "$python" tests/models/gen/scripted.py \
        "$folder/programs" >"$folder/programs.log" 2>&1; then
        failed=$((failed + 1))
        echo "FAIL scripted.py"
        tail -n 3 "$folder/programs.log"
        return
    fi
    mapfile -t cases < <(find "$folder/programs" -mindepth 1 -maxdepth 1 | sort)
    verify static interpret "${cases[@]}"
}

# Scripted models at several shapes each, extents known and not.
torch_shapes() {
    local python cases form peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    if ! python=$(python_for torch "$peers/bin/python" python3); then
        skip 1 "no torch to write models of several shapes (INGOT_PEERS)"
        return
    fi
    if ! PYTHONDONTWRITEBYTECODE=1 "$python" tests/models/gen/shapes.py \
        "$folder/shapes" >"$folder/shapes.log" 2>&1; then
        failed=$((failed + 1))
        echo "FAIL shapes.py"
        tail -n 3 "$folder/shapes.log"
        return
    fi
    mapfile -t cases < <(find "$folder/shapes" -mindepth 1 -maxdepth 1 | sort)
    for form in static dynamic; do
        verify $form interpret "${cases[@]}"
    done
    verify dynamic cpu "${cases[@]}"
}

# The same DLRM from ONNX, traced and scripted: the same launches.
torch_plans() {
    local python peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    local log=$folder/plans.log
    if ! python=$(python_for torch "$peers/bin/python" python3) ||
        ! "$python" -c 'import onnx' 2>/dev/null; then
        skip 1 "no torch and onnx to export one model in several ways (INGOT_PEERS)"
        return
    fi
    PYTHONDONTWRITEBYTECODE=1 "$python" tests/models/gen/same_plan.py \
        "$ingot" "$folder/plans" $([ "$full" = 0 ] || echo --all) >"$log" 2>"$log.err"
    passed=$((passed + $(grep -c '^pass ' "$log")))
    failed=$((failed + $(grep -c '^FAIL [a-z0-9_A-Z]*$' "$log")))
    grep '^FAIL' "$log"
    if ! grep -q ' passed, ' "$log"; then
        failed=$((failed + 1))
        echo "FAIL same_plan.py"
        tail -n 3 "$log.err"
    fi
}

# Recommendation models of the literature by both ONNX exporters, traced and scripted, with
# open extents, on one thread and several; in the normal run a few of them.
recommend_models() {
    local python cases peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    local only='*' counts='1 2 3' threads
    local arena=1.1 # a few small buffers: their alignment counts
    [ "$full" = 1 ] || { only='dcn*' counts=2; }
    if ! python=$(python_for torch "$peers/bin/python" python3); then
        skip 1 "no torch to export recommendation models (INGOT_PEERS)"
        return
    fi
    if ! PYTHONDONTWRITEBYTECODE=1 "$python" tests/models/gen/recommend.py \
        "$folder/recommend" --only "$only" >"$folder/recommend.log" 2>&1; then
        failed=$((failed + 1))
        echo "FAIL recommend.py"
        tail -n 3 "$folder/recommend.log"
        return
    fi
    # A window as long as the history: TorchScript does not say that its length is fixed.
    mapfile -t cases < <(find "$folder/recommend" -mindepth 2 -maxdepth 2 |
        grep -v 'caser/\(traced\|scripted\)' | sort)
    for threads in $counts; do
        verify dynamic cpu "${cases[@]}"
    done
    if [ "$full" = 1 ]; then
        verify static cpu "$folder"/recommend/caser/{traced,scripted}
    fi
}
