#!/usr/bin/env bash
# Recommendation models: every exporter's form of embedding bags, the stored DLRMs, and
# TorchScript's and TorchRec's cases (torch.sh), torch.nn's classes, networks of the kinds
# that users export, the literature's recommendation models, random graphs, products,
# calls of FBGEMM (modules.sh), programs of torch.export (exported.tar.xz, made by
# gen/exported.py), of what is easy to get wrong (semantics.tar.xz, made by
# gen/semantics.py), and packages of plain Python (plain.tar.xz, made by
# gen/plain_python.py), and what users of other tools reported (models/torch_reports,
# models/onnx_reports).
# SPDX-License-Identifier: Apache-2.0
#
#   tests/models/run.sh [PART…]      parts by name, as at the end of this file
#
# gen/forms.py writes a model for every way in which exporters write embedding bags.
# Each must come to a plan without loops and with one launch for all bags, and give
# numpy's numbers.  The normal run takes a sample in which every form, pooling and flag
# occurs; with INGOT_FULL=1 all are run, in every form of inputs, and one graph a form is
# held against a real torch where there is one.
#
#   INGOT_QUICK   1: the packages of plain Python alone
#   INGOT_CASES   folder that holds models/onnx/dlrm_*, models/torch … (../shared)
#   INGOT_GROW    1, with INGOT_FULL: adds cases that pass by now to passes-TARGET.txt
#   INGOT_BUILD   the build folder under test (build/release)
#   INGOT_PEERS   virtual environment with torch, as bench/peers makes it
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit
ingot=${INGOT_BUILD:-build/release}/ingot
full=${INGOT_FULL:-0}
checks= # or --sanitize: code that checks what it touches (docs/debugging.md)
cases=${INGOT_CASES:-../shared}/models/onnx
INGOT_MODELS=$(dirname "$cases")
arena=1.05 # of the bytes that live at once: what a program may take for its values
passed=0
failed=0
skipped=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

skip() { # skip COUNT WHY
    skipped=$((skipped + $1))
    echo "skip: $1 cases: $2"
}

if [ ! -x "$ingot" ]; then
    skip 1 "$ingot is not built"
    finish
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export INGOT_CACHE_DIR=$folder/cache

# ---- checks ----

# verify FORM TARGET CASE…: the numbers of each case.
verify() {
    local form=$1 target=$2 log=$folder/verify.log
    shift 2
    "$ingot" verify -q $checks --arena "$arena" --threads "${threads:-1}" --form "$form" \
        --target "$target" "$@" >"$log" 2>&1
    passed=$((passed + $(grep -c '^pass ' "$log")))
    failed=$((failed + $(grep -c '^FAIL ' "$log")))
    grep -A1 '^FAIL ' "$log" | sed "s/^FAIL/FAIL $form $target/"
    if [ "$(grep -c '^pass \|^FAIL ' "$log")" != $# ]; then
        failed=$((failed + 1))
        echo "FAIL $form $target: not all of $# cases were run"
        tail -n 3 "$log"
    fi
}

# plan CASE: its plan into plan.txt; false and a failure when there is none.
plan() {
    "$ingot" dump -q --stage plan "$1/model.onnx" >"$folder/plan.txt" \
        2>"$folder/plan.err" && return
    failed=$((failed + 1))
    echo "FAIL $(basename "$1"): $(head -n 1 "$folder/plan.err")"
    return 1
}

count() { # count PATTERN
    grep -cE "$1" "$folder/plan.txt"
}

# check NAME CLAIM GOT EXPECTED
check() {
    if [ "$3" = "$4" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: $3 $2, expected $4"
    fi
}

# recognised CASE…: no loop, and one launch for all bags.
recognised() {
    local case name
    for case in "$@"; do
        plan "$case" || continue
        name=$(basename "$case")
        check "$name" "loops, bag launches" \
            "$(count '^ *(%[^=]*= )?loop ') $(count '^ *launch .*kernel = @bag')" "0 1"
    done
}

# ---- generated forms ----

python_for() { # python_for MODULE PYTHON…: the first that has the module
    local module=$1 python
    shift
    for python in "$@"; do
        "$python" -c "import $module" 2>/dev/null && echo "$python" && return
    done
    return 1
}

forms() {
    local python form all sample
    if ! python=$(python_for "numpy, google.protobuf" python3 /usr/bin/python3) ||
        ! command -v protoc >/dev/null; then
        skip 1 "the generator of forms needs python3, numpy, protobuf and protoc"
        return
    fi
    if ! PYTHONDONTWRITEBYTECODE=1 "$python" tests/models/gen/forms.py "$folder/forms" \
        >"$folder/forms.log" 2>&1; then
        failed=$((failed + 1))
        tail -n 3 "$folder/forms.log"
        return
    fi
    mapfile -t all < <(find "$folder/forms" -mindepth 1 -maxdepth 1 | sort)
    if [ "$full" = 0 ]; then
        mapfile -t sample < <(printf '%s\n' "${all[@]}" |
            grep -E '/(legacy-13|dynamo-18|unrolled-10|fixed-13|one_hot-13)-' |
            grep -E -- '-(mixed|twice)(-(unoptimised|cast|static|one_bag|column))?$')
        verify static cpu "${sample[@]}"
        recognised "${sample[@]}"
        return
    fi
    recognised "${all[@]}"
    for form in static constant; do
        verify $form cpu "${all[@]}"
    done
    verify static interpret "${all[@]}"
    # The number of bags is built into unrolled graphs.
    mapfile -t sample < <(printf '%s\n' "${all[@]}" | grep -v '/unrolled-')
    verify dynamic cpu "${sample[@]}"
}

real_exports() {
    local python peers=${INGOT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/ingot/peers}
    if ! python=$(python_for torch "$peers/bin/python" python3); then
        skip 1 "no torch to hold the forms against (INGOT_PEERS)"
        return
    fi
    if (cd tests/models/gen && PYTHONDONTWRITEBYTECODE=1 "$python" check_exports.py) \
        >"$folder/exports.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL check_exports.py"
        tail -n 5 "$folder/exports.log"
    fi
}

# ---- stored models ----

# Kernels of the plan by kind, without the numbers that tell equal names apart.
kinds() {
    plan "$1" && grep -oE 'kernel = @[a-z_]+' "$folder/plan.txt" | sed 's/_$//' | sort
}

stored() {
    local form target models=("$cases"/dlrm_*/)
    models=("${models[@]%/}")
    if [ ! -d "$cases/dlrm_criteo_legacy" ]; then
        skip 5 "INGOT_CASES has no models/onnx/dlrm_*"
        return
    fi
    for form in static dynamic constant; do
        for target in cpu interpret; do
            verify "$form" "$target" "${models[@]}"
        done
    done
    recognised "$cases/dlrm_criteo_legacy" "$cases/dlrm_criteo_dynamo"
    check "both exports of dlrm_criteo" "(kinds of kernels)" \
        "$(kinds "$cases/dlrm_criteo_legacy")" "$(kinds "$cases/dlrm_criteo_dynamo")"
    check dlrm_criteo "more than 10 launches" \
        "$(($(count '^ *launch') > 10))" 0
    check dlrm_criteo "launches of an interaction" \
        "$(count '^ *launch .*kernel = @interact')" 1
}

# judge FORM LOG: of each case, what refused-onnx.txt lets it do.  Only a refusal of a
# listed model is a skip: wrong numbers never are.
judge() {
    local form=$1 log=$2 line name listed
    while read -r line; do
        name=$(cut -d' ' -f2 <<<"${line%%:*}")
        listed=$(grep -c "^$name " tests/models/refused-onnx.txt)
        case $listed:$line in
            0:pass*) passed=$((passed + 1)) ;;
            1:pass*)
                failed=$((failed + 1))
                echo "FAIL $form $name passes: take it off refused-onnx.txt"
                ;;
            1:*": import: "* | 1:*": compile: "*)
                skip 1 "$form $name: $(sed -n "s/^$name *//p" tests/models/refused-onnx.txt)"
                ;;
            *)
                failed=$((failed + 1))
                echo "FAIL $form ${line#FAIL }"
                ;;
        esac
    done < <(grep '^pass \|^FAIL ' "$log")
}

# Every model gives its stored results, and keeps its values in little more memory than
# live at once.
onnx_suite() {
    local form log=$folder/onnx.log
    if [ ! -d "$cases" ]; then
        skip 1 "INGOT_CASES has no models/onnx"
        return
    fi
    for form in static $([ "$full" = 0 ] || echo dynamic); do
        "$ingot" verify -q $checks --arena "$arena" --form "$form" --suite "$cases" \
            >"$log" 2>&1
        judge "$form" "$log"
        grep -q '^[0-9]* passed, ' "$log" && continue
        failed=$((failed + 1))
        echo "FAIL $form: the suite of models/onnx did not end"
        tail -n 3 "$log"
    done
}

# Gradients of torch.autograd.  PRelu's slope at 0 is another convention (docs/training.md).
gradients() {
    local all=${INGOT_CASES:-../shared}/models/training log=$folder/gradients.log target
    if [ ! -d "$all" ]; then
        skip 1 "INGOT_CASES has no models/training"
        return
    fi
    for target in cpu interpret; do
        find "$all" -name 'grad_*' ! -name grad_prelu_at_0 -print0 |
            xargs -0 "${ingot%ingot}igcheck" cases -q --target "$target" >"$log" 2>&1
        judge "$target" "$log"
        grep -q '^[0-9]* passed, ' "$log" && continue
        failed=$((failed + 1))
        echo "FAIL $target: the gradients did not end"
        tail -n 3 "$log"
    done
}

# Stored, so that no torch is needed.
exported_programs() {
    tar -C "$folder" -xf tests/models/exported.tar.xz
    for form in static dynamic constant; do
        verify "$form" cpu "$folder"/exported/*
    done
    verify dynamic interpret "$folder"/exported/*
}

# refused CASE…: each is refused with words when it is imported.
refused() {
    local case said
    for case in "$@"; do
        said=$("$ingot" verify -q "$case" 2>&1)
        case $said in
            *test_data_set_0:\ import:\ *) passed=$((passed + 1)) ;;
            *)
                failed=$((failed + 1))
                echo "FAIL $(basename "$case") is not refused at import: $said"
                ;;
        esac
    done
}

# Stored programs of gen/semantics.py; those that are refused are refused with words.
semantic_programs() {
    tar -C "$folder" -xf tests/models/semantics.tar.xz
    verify static interpret "$folder"/semantics/{all,closed,state}/*
    verify dynamic interpret "$folder"/semantics/growing/*
    verify static interpret "$folder"/semantics/growing/*
    verify static cpu "$folder"/semantics/{all,closed,state}/*
    verify constant cpu "$folder"/semantics/{all,closed}/*
    verify dynamic cpu "$folder"/semantics/{all,state,growing}/*
    refused "$folder"/semantics/refused/*
}

# The same of packages whose classes are plain Python.
plain_packages() {
    tar -C "$folder" -xf tests/models/plain.tar.xz
    verify static interpret "$folder"/plain/{all,closed}/*
    verify static cpu "$folder"/plain/{all,closed}/*
    verify constant cpu "$folder"/plain/{all,closed}/*
    verify dynamic cpu "$folder"/plain/all/*
    refused "$folder"/plain/refused/*
}

# Code that checks what it touches: a sample in which each family of kernels occurs; with
# INGOT_FULL=1 every stored model, generated form and listed case of torch.
sanitized() {
    local checks=--sanitize full=0 model
    if [ ! -d "$cases" ]; then
        skip 1 "INGOT_CASES has no models/onnx to run checked"
        return
    fi
    if [ "${INGOT_FULL:-0}" = 1 ]; then
        onnx_suite
        [ ! -d "$folder/forms" ] || verify static cpu "$folder/forms"/*/
        [ -f "$folder/all.txt" ] || return 0
        LC_ALL=C sort tests/models/passes-cpu.txt | comm -12 - "$folder/all.txt" \
            >"$folder/listed.txt"
        verify_list cpu "$folder/listed.txt"
        passed=$((passed + $(grep -c '^pass ' "$folder/verdicts.txt")))
        failed=$((failed + $(grep -c '^FAIL ' "$folder/verdicts.txt")))
        grep '^FAIL ' "$folder/verdicts.txt" | sed "s/^FAIL/FAIL sanitized/"
        return
    fi
    for model in flow_beam flow_if flow_loop flow_scan embedding_int8_rowwise \
        int8_dlrm_qdq external_packed; do
        verify static cpu "$cases/$model"
    done
}

. tests/models/torch.sh
. tests/models/onnx_reports.sh
. tests/models/modules.sh
[ "${INGOT_QUICK:-0}" = 0 ] || { plain_packages; finish; }
if [ $# != 0 ]; then
    for part in "$@"; do
        "$part"
    done
    finish
fi
forms
[ "$full" = 0 ] || real_exports
stored
onnx_suite
gradients
torch_suites
torch_reports
onnx_reports
sanitized
torch_modules
torch_networks
recommend_models
random_graphs
products
torch_programs
torch_shapes
torchrec_modules
jagged_sparse_ops
torch_plans
exported_programs
semantic_programs
plain_packages
finish
