# TorchScript, torch.package and TorchRec cases against their stored values.
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run.sh.  passes-TARGET.txt lists the cases that pass on a target, one a
# line, as paths below models/: a listed case that fails is a failure.  The list only
# grows: of the cases that are not in it those that are refused with words are counted
# skips, and whatever else they do but pass is a failure.  Those that pass by now are
# named, and INGOT_GROW=1 adds them.

# Cases of the two suites that ought to pass one day, as paths below models/: not Python
# that is not in the package, and numpy.
torch_cases() {
    (cd "$INGOT_MODELS" && find torch torchrec -type d -name 'test_data_set_0' |
        sed 's#/test_data_set_0$##' |
        grep -vE '/package/(extern_user|extern_numpy_mock)$' |
        while read -r case; do
            ls "$case"/*.pt* >/dev/null 2>&1 && echo "$case"
        done | sort)
}

# verify_list TARGET FILE: verifies the cases in FILE; their verdicts in verdicts.txt, a
# line "pass CASE" or "FAIL CASE: why" each.  $checks is empty, or --sanitize.
verify_list() {
    local target=$1 case
    : >"$folder/verdicts.txt"
    while read -r case; do
        timeout 3000 "$ingot" verify -q $checks --arena "$arena" --target "$target" \
            "$INGOT_MODELS/$case" \
            >"$folder/one.txt" 2>&1
        if grep -q '^pass ' "$folder/one.txt"; then
            echo "pass $case"
        else
            echo "FAIL $case: $(grep -m1 -oE '^FAIL .*' "$folder/one.txt" |
                sed 's/^FAIL [^:]*: //' | cut -c1-200)"
        fi
    done <"$2" >>"$folder/verdicts.txt"
}

torch_target() {
    local target=$1 list=tests/models/passes-$1.txt grown refused
    LC_ALL=C sort "$list" | comm -12 - "$folder/all.txt" >"$folder/listed.txt"
    LC_ALL=C sort "$list" | comm -13 - "$folder/all.txt" >"$folder/others.txt"
    verify_list "$target" "$folder/listed.txt"
    passed=$((passed + $(grep -c '^pass ' "$folder/verdicts.txt")))
    failed=$((failed + $(grep -c '^FAIL ' "$folder/verdicts.txt")))
    grep '^FAIL ' "$folder/verdicts.txt" | sed "s/^FAIL/FAIL $target/"
    [ -s "$folder/others.txt" ] || return 0
    verify_list "$target" "$folder/others.txt"
    grown=$(sed -n 's/^pass //p' "$folder/verdicts.txt")
    refused='^FAIL [^:]*: test_data_set_[0-9]*: (import|compile): '
    skip "$(grep -cE "$refused" "$folder/verdicts.txt")" "$target: refused so far:"
    grep -E "$refused" "$folder/verdicts.txt" | sed 's/^FAIL/   /'
    grep '^FAIL ' "$folder/verdicts.txt" | grep -vE "$refused" >"$folder/wrong.txt"
    failed=$((failed + $(wc -l <"$folder/wrong.txt")))
    sed "s/^FAIL/FAIL $target/" "$folder/wrong.txt"
    if [ -n "$grown" ]; then
        echo "$grown" | sed "s/^/$target: passes by now: /"
        passed=$((passed + $(echo "$grown" | wc -l)))
    fi
    if [ -n "$grown" ] && [ "${INGOT_GROW:-0}" = 1 ]; then
        (cat "$list" && echo "$grown") | sort -o "$list"
    fi
}

torch_suites() {
    local target
    if [ ! -d "$INGOT_MODELS/torch" ]; then
        skip 1 "INGOT_CASES has no models/torch"
        return
    fi
    torch_cases >"$folder/all.txt"
    for target in interpret cpu; do
        torch_target $target
    done
}

# Users' reports (models/torch_reports): pass/, and the cases of fail/ that are finished
# (reports-finished.txt).
torch_reports() {
    local reports cases form target
    reports=$INGOT_MODELS/torch_reports
    if [ ! -d "$reports/pass" ]; then
        skip 1 "INGOT_CASES has no models/torch_reports"
        return
    fi
    mapfile -t cases < <(find "$reports/pass" -mindepth 1 -maxdepth 1 -type d | sort)
    while read -r form; do
        [ -d "$reports/fail/$form" ] && cases+=("$reports/fail/$form")
    done <tests/models/reports-finished.txt
    for target in interpret cpu; do
        verify static "$target" "${cases[@]}"
    done
    mapfile -t cases < <(printf '%s\n' "${cases[@]}" | grep -E '_(script|trace)$')
    verify dynamic cpu "${cases[@]}"
    raising_sets "$reports"
    refused_reports "$reports/fail"
}

# refused_reports FOLDER: what will not be compiled is said to be what it is.
refused_reports() {
    local name words target got
    while read -r name words; do
        for target in interpret cpu; do
            "$ingot" run -q --target "$target" "$1/$name"/model.pt* \
                --inputs "$1/$name/test_data_set_0" >"$folder/refused.txt" 2>&1
            got=$?
            if [ $got = 4 ] && grep -qF "$words" "$folder/refused.txt"; then
                passed=$((passed + 1))
            else
                failed=$((failed + 1))
                echo "FAIL $name, $target: status $got, expected 4 and '$words'"
            fi
        done
    done <<'END'
force_field_grad_script torch.autograd.grad: gradients that a model takes of itself
gnn_custom_ops_script operator torch_scatter::scatter_max is not supported yet
sparse_coo_mm_pt2 it makes a sparse tensor (torch.sparse_coo)
END
}

# raising_sets FOLDER: data sets of which case.json says that eager torch raises an
# exception (`eager_raises`: [[set, message] …]): there the right result is status 3.
raising_sets() {
    local case set target got
    while read -r case set; do
        for target in interpret cpu; do
            "$ingot" run -q --target "$target" "$case"/model.pt* \
                --inputs "$case/test_data_set_$set" >"$folder/raising.txt" 2>&1
            got=$?
            if [ $got = 3 ] && grep -q 'error: .*node' "$folder/raising.txt"; then
                passed=$((passed + 1))
            else
                failed=$((failed + 1))
                echo "FAIL $(basename "$case"), set $set, $target: status $got, expected 3"
            fi
        done
    done < <(python3 - "$1"/*/*/case.json <<'END'
import json
import os
import sys

for path in sys.argv[1:]:
    with open(path) as file:
        for number, _ in json.load(file).get("eager_raises", []):
            print(os.path.dirname(path), number)
END
    )
}
