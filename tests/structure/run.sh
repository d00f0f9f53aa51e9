#!/usr/bin/env bash
# The test of scripts/check-structure itself: each violation is made in a copy of the
# tree, and the rule must name it.  SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

passed=0
failed=0
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
    [ -f "$file" ] && printf '%s\0' "$file"
done | tar -c --null -T - | tar -x -C "$copy" || exit

report() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s\n' "$2"
    fi
}

# finds RULE WORDS: the rule fails in the copy, with these words.
finds() {
    local output
    output=$(cd "$copy" && scripts/check-structure "$1" 2>&1)
    if grep -qF -- "$2" <<<"$output" && grep -q ' 1 failed$' <<<"$output"; then
        report 0
    else
        report 1 "$1 does not say '$2':
$output"
    fi
}

# restore FILE…: from the tree, or gone where the tree has none.
restore() {
    local file
    for file in "$@"; do
        if [ -e "$file" ]; then cp -p "$file" "$copy/$file"; else rm -rf "${copy:?}/$file"; fi
    done
}

# includes FILE HEADER: FILE may not include HEADER.
includes() {
    printf '#include "%s"\n' "$2" >>"$copy/$1"
    finds includes_follow_the_arrows "may not include $2"
    restore "$1"
}

# adds RULE WORDS FILE TEXT: TEXT at the end of FILE is found.
adds() {
    mkdir -p "$copy/$(dirname "$3")"
    printf '%b' "$4" >>"$copy/$3"
    finds "$1" "$2"
    restore "$3"
}

output=$(cd "$copy" && scripts/check-structure 2>&1)
report $? "a copy of the tree does not pass:
$output"

includes frontend/onnx/ops/rows.c frontend/torch/eval/op.h
includes codegen/cuda/emit.c codegen/cpu/emit.h
includes passes/lower/lower.c passes/place/place.h
includes passes/lower/gpu/gemm.c passes/lower/cpu/cpu.h
includes passes/lower/cpu/gemm.c passes/lower/gpu/gpu.h
includes runtime/plan/plan.c runtime/cpu/code.h
includes frontend/torch/pickle/vm.c frontend/torch/eval/op.h
includes ir/graph.c passes/engine/pass.h
includes driver/host.c codegen/cpu/emit.h
includes tools/ingot/main.c ir/graph.h
adds includes_follow_the_arrows "only codegen/cpu/ includes LLVM" driver/host.c \
    '#include <llvm-c/Core.h>\n'

for name in ig_onnx_build2 ig_onnx_scalar ig_expand_softmax ig_try_add; do
    adds gone_names_stay_away "$name is gone" frontend/onnx/ops/rows.c \
        "static ig_value *f(void) { return $name(); }\n"
done

adds declarations_are_in_headers "another file's symbol" ir/graph.c \
    'extern ig_status ig_pass_dce(ig_pass_run *run, ig_graph *graph);\n'
adds declarations_are_in_headers "another file's symbol" ir/graph.c \
    'ig_status ig_pass_dce(ig_pass_run *run,\n                      ig_graph *graph);\n'
adds declarations_are_in_headers "another file's symbol" ir/graph.c \
    'static void call(void) {\n    extern void ig_pass_dce(void);\n    ig_pass_dce();\n}\n'

adds no_switch_over_ops "a switch over ops" passes/clean/cse.c \
    'static int pick(const ig_op *op) {\n    switch (op->code) {\n    case IG_OP_add: return 1;\n    }\n}\n'
adds no_chain_over_ops "a chain over ops" passes/clean/cse.c \
    'static int pick(const ig_op *op) {
    if (op->code == IG_OP_add) {
        return 1;
    } else if (op->code == IG_OP_sub) {
        return 2;
    } else if (op->code == IG_OP_mul) {
        return 3;
    } else if (op->code == IG_OP_div) {
        return 4;
    }
    return 0;
}\n'
adds no_chain_over_ops "a chain over ops" passes/clean/cse.c \
    'static bool is(ig_opcode c) {
    return c == IG_OP_add || c == IG_OP_sub || c == IG_OP_mul || c == IG_OP_div ||
           c == IG_OP_min || c == IG_OP_max;
}\n'

row='1, 1, 1, 0, T, MAP, same, map, none, none'
adds every_op_is_tested "op first is in no golden" ir/ops.def "OP(first, $row, map, NO_ATTRS)\n"
adds families_exist "families.def has no family scna" ir/ops.def \
    "OP(first, $row, scna, NO_ATTRS)\n"
adds every_pass_is_tested "pass first is in no" passes/engine/passes.def \
    'PASS(first, "nothing", 0, 0, first)\n'
adds every_rule_is_tested "rule first has no golden" passes/canonical/view.c \
    'static const ig_rule more[] = { RULE(reshape, first) };\n'
adds every_import_row_is_tested "row aten::first is in no test" \
    frontend/torch/aten/math/map.def 'OP("aten::first(Tensor self) -> Tensor", unary, 0)\n'
adds every_import_row_is_tested "row onnx::First is in no test" \
    frontend/onnx/ops/ops.def 'ONNX(ai, First, 7, 1, 1, 1, 1, map, IG_OP_abs, NO_ATTRS)\n'
adds every_import_row_is_tested "aten::relu is tested now" scripts/untested-rows.txt \
    'aten::relu\n'
adds every_import_row_is_tested "aten::nowhere is no row" scripts/untested-rows.txt \
    'aten::nowhere\n'

for ((i = 0; i < 41; i++)); do
    mkdir -p "$copy/frontend/onnx/more"
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n' >"$copy/frontend/onnx/more/file_$i.c"
done
finds folders_are_small "frontend/onnx/more:1: 41 files, at most 40"
restore frontend/onnx/more
adds files_are_small "2000 lines, at most 500" frontend/torch/aten/more.def \
    "$(printf '/* row */\\n%.0s' {1..2000})"
adds lines_are_short "columns, at most 88" base/vec.c \
    "int i = $(printf '1 + %.0s' {1..30})1;\n"

adds static_functions_are_phrases "static function combine is one word" ir/graph.c \
    'static void combine(void) {}\n'

sed -i 's/^    assert(/    (void)(/' "$copy"/*/*.c "$copy"/*/*/*.c "$copy"/*/*/*/*.c
finds asserts_hold_the_floor "asserts per kloc, at least"
finds accessors_state_preconditions "asserts no precondition"
restore ir/families.c
sed -i 's/"ig_dim_same"/"ig_dim_gone"/' "$copy/scripts/structure/asserts.py"
finds accessors_state_preconditions "TAKES_ANYTHING: there is no ig_dim_gone"
finds accessors_state_preconditions "ig_dim_same of ir/dim/handle.h asserts no precondition"
restore scripts/structure/asserts.py
adds asserts_are_in_words "an assert without words" ir/families.c \
    'static void check(int a) {\n    assert(a > 0);\n}\n'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
