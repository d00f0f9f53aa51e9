# A torch.package of every torch.nn class that is known, against torch's own numbers.
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run.sh.  Needs a torch (INGOT_PEERS); all classes on the interpreter, with
# INGOT_FULL=1 compiled as well.

# make_cases GENERATOR WHAT [OPTION…]: gen/GENERATOR.py writes cases, whose folders go to
# $cases.
# Fails where there are none: without torch that is a skip.
make_cases() {
    local generator=$1 what=$2 python
    shift 2
    local peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    if ! python=$(python_for torch "$peers/bin/python" python3); then
        skip 1 "no torch to write $what (INGOT_PEERS)"
        return 1
    fi
    if ! PYTHONDONTWRITEBYTECODE=1 "$python" "tests/models/gen/$generator.py" \
        "$folder/$generator" "$@" >"$folder/$generator.log" 2>&1; then
        failed=$((failed + 1))
        echo "FAIL $generator.py"
        tail -n 3 "$folder/$generator.log"
        return 1
    fi
    mapfile -t cases < <(find "$folder/$generator" -mindepth 1 -maxdepth 1 | sort)
}

torch_modules() {
    local target targets=interpret cases
    make_cases nn_modules "packages of torch.nn's classes" || return
    [ "$full" = 0 ] || targets="interpret cpu"
    for target in $targets; do
        verify static "$target" "${cases[@]}"
    done
    [ -e "$(dirname "$ingot")/libingot-interp-cpython.so" ] || return 0
    "$ingot" verify -q --interpreter cpython "${cases[@]}" >"$folder/layers.txt" 2>&1
    passed=$((passed + $(grep -c '^pass' "$folder/layers.txt")))
    failed=$((failed + ${#cases[@]} - $(grep -c '^pass' "$folder/layers.txt")))
    grep -A9 '^FAIL' "$folder/layers.txt"
    return 0
}

# Scripted programs that use the language, against torch's own interpreter.
torch_programs() {
    local cases
    make_cases scripted "scripted programs" || return
    verify static interpret "${cases[@]}"
}

# Scripted models at several shapes each, extents known and not.
torch_shapes() {
    local cases form
    make_cases shapes "models of several shapes" || return
    for form in static dynamic; do
        verify $form interpret "${cases[@]}"
    done
    verify dynamic cpu "${cases[@]}"
}

# peers_have MODULES: the bench's peers, or else the system's Python, have them all.
peers_have() {
    local peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    python_for "$1" "$peers/bin/python" python3 >/dev/null && return
    skip 1 "no $1 to make cases with (INGOT_PEERS)"
    return 1
}

# TorchRec's modules at random, against torch and FBGEMM; extents known and not.
torchrec_modules() {
    local cases form
    peers_have "torchrec, fbgemm_gpu" || return 0
    make_cases torchrec_modules "modules of TorchRec" \
        --count $([ "$full" = 0 ] && echo 8 || echo 80) || return
    for form in static dynamic; do
        verify $form interpret "${cases[@]}"
        verify $form cpu "${cases[@]}"
    done
}

# Calls of FBGEMM's operators on jagged and sparse features, against FBGEMM.
jagged_sparse_ops() {
    local cases form
    peers_have "torch, fbgemm_gpu" || return 0
    make_cases jagged_sparse_ops "calls of FBGEMM's operators" \
        --count $([ "$full" = 0 ] && echo 60 || echo 600) || return
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
    local cases only='*' counts='1 2 3' threads
    [ "$full" = 1 ] || { only='dcn*' counts=2; }
    make_cases recommend "recommendation models" --only "$only" || return
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

# Random ONNX graphs against ONNX Runtime: one program of open extents, batches that grow
# and shrink.
random_graphs() {
    local cases threads=3 count=40
    [ "$full" = 0 ] || count=1000
    make_cases random_graphs "random graphs" --count "$count" || return
    verify dynamic cpu "${cases[@]}"
}

# Products of two inputs, axes in any order, and layers of 8-bit weights, at every level of
# this machine.
products() {
    local cases level levels=cpu count=30
    [ "$full" = 0 ] || { count=300 levels="cpu cpu:v3 cpu:v2"; }
    make_cases products "products" --count "$count" || return
    for level in $levels; do
        verify dynamic "$level" "${cases[@]}"
    done
    verify static cpu "${cases[@]}"
}

# verify_open CASE…: with open extents.  What hangs on one that is open is refused with
# words, which is a skip; a wrong number never is.
verify_open() {
    local case said
    for case in "$@"; do
        said=$("$ingot" verify -q --form dynamic "$case" 2>&1)
        case $said in
            *"pass "*) passed=$((passed + 1)) ;;
            *test_data_set_*:\ import:\ *)
                skip 1 "$(basename "$case"): $(sed -n 's/.*import: [^ ]* //p' <<<"$said")"
                ;;
            *)
                failed=$((failed + 1))
                echo "FAIL dynamic $(grep -m 1 '^FAIL' <<<"$said")"
                ;;
        esac
    done
}

# integer_launches CASE: how many launches its plan has, and which products of bytes.
integer_launches() {
    "$ingot" dump -q --stage plan "$1"/model.* >"$folder/plan.txt" 2>&1
    grep -c '^ *launch' "$folder/plan.txt"
    grep -oE 'kernel = @(gemm|conv)_(i8|u8|channels)[a-z_]*' "$folder/plan.txt" |
        sed 's/_$//' | sort
}

# Networks of kinds that users export, by every exporter that takes them: speech,
# detection, filters, searches, HSTU, quantised by PT2E and torchao.  PT2E's programs
# have the launches of the QDQ models that are made of them.
torch_networks() {
    local cases closed opened name options=(--count 1 --only kalman,beam,dlrm_8bit)
    [ "$full" = 0 ] || options=()
    peers_have "torch, torchaudio, torchvision, torchao, onnx" || return 0
    make_cases networks "networks" "${options[@]}" || return
    mapfile -t opened < <(find "$folder/networks/open" -mindepth 1 -maxdepth 1 | sort)
    mapfile -t closed < <(find "$folder/networks/fixed" -mindepth 1 -maxdepth 1 | sort)
    verify static cpu "${opened[@]}" "${closed[@]}"
    verify static interpret "${opened[@]}" "${closed[@]}"
    verify_open "${opened[@]}"
    for name in "$folder"/networks/*/*_8bit[0-9]-dynamo; do
        check "$(basename "$name")" "launches of PT2E and of QDQ" \
            "$(integer_launches "${name%dynamo}exported")" "$(integer_launches "$name")"
    done
}
