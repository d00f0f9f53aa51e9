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

# adds RULE WORDS FILE TEXT: TEXT at the end of FILE is found; `settle` looks, once for all
# violations of a rule.
adds() {
    mkdir -p "$copy/$(dirname "$3")"
    printf '%b' "$4" >>"$copy/$3"
    made+=("$1|$3|$2")
}

# includes FILE HEADER: FILE may not include HEADER.
includes() {
    adds includes_follow_the_arrows "may not include $2" "$1" "#include \"$2\"\n"
}

# Each violation has a line of its own; then the files are as they were.
settle() {
    local rule output one file words wanted found
    for rule in $(printf '%s\n' "${made[@]%%|*}" | sort -u); do
        output=$(cd "$copy" && scripts/check-structure "$rule" 2>&1)
        while IFS='|' read -r one file words; do
            [ "$one" = "$rule" ] || continue
            wanted=$(printf '%s\n' "${made[@]}" | grep "^$one|" | grep -cF -- "|$words")
            found=$(grep -cF -- "$words" <<<"$output")
            [ "$found" -ge "$wanted" ] && grep -q ' 1 failed$' <<<"$output"
            report $? "$rule does not say '$words' of $file:
$output"
        done < <(printf '%s\n' "${made[@]}")
    done
    for one in "${made[@]}"; do
        file=${one#*|}
        restore "${file%%|*}"
    done
    made=()
}

made=()
output=$(cd "$copy" && scripts/check-structure 2>&1)
report $? "a copy of the tree does not pass:
$output"

includes frontend/onnx/ops/math/elementwise.c frontend/torch/eval/op.h
includes codegen/cuda/emit.c codegen/cpu/emit.h
includes passes/lower/lower.c passes/place/place.h
includes passes/lower/gpu/gemm.c passes/lower/cpu/cpu.h
includes passes/lower/cpu/gemm.c passes/lower/gpu/gpu.h
includes runtime/plan/plan.c runtime/cpu/code.h
includes frontend/torch/pickle/vm.c frontend/torch/eval/op.h
includes ir/graph.c passes/engine/pass.h
includes driver/host.c codegen/cpu/emit.h
includes tools/ingot/main.c ir/graph.h
adds includes_follow_the_arrows "may not include driver/host.h" ir/attr.c \
    '#include <driver/host.h>\n'
adds includes_follow_the_arrows "may not include ingot/ingot.h" ir/attr.c \
    '#include <ingot/ingot.h>\n'
includes ir/dim/walk.c ir/infer/infer.h
includes ir/text/print.c ir/parse/read.h
includes ir/verify/op.c ir/build/build.h
includes media/image.c ir/graph.h
includes base/arena.c media/image.h
includes passes/lower/math/math.c passes/lower/lower.h
includes frontend/onnx/import/table.c frontend/onnx/ops/hooks.h
includes driver/cache/key.c driver/compile/compile.h
includes driver/artifact/plan_write.c driver/cache/payload.h
includes tools/ingot/verify/call.c tools/ingot/verbs/verbs.h
adds includes_follow_the_arrows "only codegen/cpu/ includes LLVM" driver/host.c \
    '#include <llvm-c/Core.h>\n'

settle

sed -i 's#^    "media/": .*#    "media/": ["media/", "ir/", *BASE],#' "$copy/scripts/structure/arrows.py"
finds arrows_point_one_way "ir/infer/ and media/ may include each other"
restore scripts/structure/arrows.py
adds headers_declare_their_own "declares ig_session_run of runtime/session/session_run.c" \
    ir/type.h 'ig_status ig_session_run(ig_session *session);\n'
settle
adds struct_tags_are_unique "ig_span is a type of ir/tensor/span.h too" passes/bags/jagged.h \
    'struct ig_span {\n    int at;\n};\n'

adds prefixes_have_one_owner "ig_span_first is about no ig_span of ir/tensor/span.h" \
    passes/bags/jagged.c 'int ig_span_first(int at) {\n    return at;\n}\n'
adds prefixes_have_one_owner "ig_futex_ is a prefix of codegen/null/null.c" \
    codegen/null/null.c 'int ig_futex_pair(int at) {\n    return at;\n}\n'

adds evaluator_has_one_of_a_name "run_assert is a function of" frontend/torch/eval/frame.c \
    'static int run_assert(void) {\n    return 0;\n}\n'

adds passes_ask_for_facts "make it a fact of ir/target.h" passes/clean/cse.c \
    'static bool is_cpu(const ig_target *t) { return t->family == IG_FAMILY_CPU; }\n'

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

row='1, 1, 1, 0, T, MAP, same, map, none, none, none'
adds every_op_is_tested "op first is in no golden" ir/ops.def "OP(first, $row, map, NO_ATTRS)\n"
adds families_exist "families.def has no family scna" ir/ops.def \
    "OP(first, $row, scna, NO_ATTRS)\n"
adds every_pass_is_tested "pass first is in no" passes/engine/passes.def \
    'PASS(first, "nothing", 0, 0, first)\n'
adds every_rule_is_tested "rule first has no golden case" passes/canonical/view.c \
    'static const ig_rule more[] = { RULE(reshape, first) };\n'
adds every_import_row_is_tested "row aten::first is in no test" \
    frontend/torch/aten/math/map.def 'OP("aten::first(Tensor self) -> Tensor", unary, 0)\n'
adds every_import_row_is_tested "row onnx::First is in no test" \
    frontend/onnx/ops/ops.def 'ONNX(ai, First, 7, 1, 1, 1, 1, map, IG_OP_abs, NO_ATTRS)\n'
adds every_import_row_is_tested "aten::relu is tested now" scripts/untested-rows.txt \
    'aten::relu\n'
adds every_import_row_is_tested "aten::nowhere is no row" scripts/untested-rows.txt \
    'aten::nowhere\n'

settle

# ---- what a reader meets ----

lies=$(printf '/* What is left of it lies here and what is not stands there. */\\n%.0s' {1..40})
adds comments_are_sentences "headless what: " media/image.c "$lies"
adds comments_are_sentences "lies/stands: " base/arena.c "$lies"
adds named_files_exist "names ir/gone_away.c, which is no file" ir/attr.c \
    '/* As in ir/gone_away.c. */\n'
adds named_files_exist "names docs/gone-away.md, which is no file" docs/status.md \
    'See `docs/gone-away.md`.\n'
adds headers_are_commented "8 prototypes and 0 comments" compose/bare.h \
    "/* Bare. */\n$(printf 'int ig_bare_%d(void);\\n' {1..8})"
adds names_avoid_never_words "rows_behind has a word that the glossary rules out" \
    compose/window.c 'static int rows_behind;\n'
adds names_avoid_never_words "MOST_TURNS has a word" bench/measure.py 'MOST_TURNS = 3\n'
adds names_avoid_never_words "least_size has a word" tests/cli/run.sh 'lea''st_size=1\n'
adds names_avoid_never_words "row_place has a word" compose/boxes.c 'static int row_place;\n'
adds names_avoid_never_words "number has a word" passes/clean/cse.c 'static void f(uint32_t number);\n'
adds names_avoid_never_words "place has a word" bench/models.py 'for place in (): pass\n'
adds names_avoid_never_words "number has a word" bench/gemm.py 'for number in range(3): pass\n'
adds status_is_a_table "a claim of 13 words" docs/status.md \
    '| one two three four five six seven eight nine ten eleven twelve thirteen | `true` |\n'
adds status_is_a_table "a claim without the command" docs/status.md '| it works | see there |\n'
adds status_is_a_table "a measurement; its home is" docs/status.md '- A step takes 12 ms.\n'
adds status_is_a_table "more than a line" docs/status.md '- What does not work\n  goes on.\n'
adds rooms_are_described "ir/nowhere/ is no folder" docs/rooms.md '| `ir/nowhere/` | nothing | - |\n'
adds no_function_stands_twice "is count_first of passes/clean/cse.c once more" passes/clean/cse.c \
    'static int count_first(int a) {\n    int b = a;\n    b++;\n    b--;\n    b++;\n    return b;\n}\n'
adds no_function_stands_twice "count_second is count_first of passes/clean/cse.c" compose/window.c \
    'static int count_second(int a) {\n    int b = a;\n    b++;\n    b--;\n    b++;\n    return b;\n}\n'
adds names_are_compared_by_tables "pick_name compares with 6 names" compose/window.c \
    "static int pick_name(const char *n) {\n    return $(printf 'strcmp(n, "%d") + ' {1..6})strcmp(n, "7");\n}\n"
adds names_are_compared_by_tables "pick_flags has 6 bools" compose/loss.c \
    'static int pick_flags(bool a, bool b, bool c, bool d, bool e, bool f) {\n    return a;\n}\n'
adds asserts_can_fail "an assert that cannot fail" compose/loss.c \
    'static void check_it(void) {\n    assert(1 && "it is so");\n}\n'
adds python_is_small "more has 1001 lines" python/more.py \
    "def more():\n$(printf '    pass\\n%.0s' {1..1000})"
adds unit_tests_test "a unit test without a TEST" tests/unit/ir/test_nothing.c \
    '/* Nothing.\n * SPDX-License-Identifier: Apache-2.0 */\n'
sed -i 's/NEEDS("self 1; tensor 1")/NEEDS("self 1; tensr 1")/' "$copy/frontend/torch/aten/nn/nn.def"
finds torch_columns_are_spelt "'tensr 1' of NEEDS"
restore frontend/torch/aten/nn/nn.def
sed -i 's/linear, 0,$/linear, 0, ROW,/' "$copy/frontend/torch/aten/nn/nn.def"
finds torch_columns_are_spelt "ROW is not a layout"
restore frontend/torch/aten/nn/nn.def
sed -i 's/^struct ig_op {/&\n    int fuse_scratch;/' "$copy/ir/graph.h"
finds nodes_carry_no_luggage "ig_op has a field fuse_scratch"
restore ir/graph.h

settle

# fill COUNT: a folder of so many files.
fill() {
    local i
    mkdir -p "$copy/frontend/onnx/more"
    for ((i = 0; i < $1; i++)); do
        printf '/* SPDX-License-Identifier: Apache-2.0 */\n' \
            >"$copy/frontend/onnx/more/file_$i.c"
    done
}

# warns RULE WORDS: the rule passes, and these words are in what it prints.
warns() {
    local output
    output=$(cd "$copy" && scripts/check-structure "$1" 2>&1)
    grep -qF -- "$2" <<<"$output" && grep -q ' 0 failed$' <<<"$output"
    report $? "$1 does not warn '$2':
$output"
}

fill 41
finds folders_are_small "frontend/onnx/more:1: 41 files, at most 40"
restore frontend/onnx/more
fill 33
warns folders_are_small "frontend/onnx/more:1: 33 files; more than 40 fail"
restore frontend/onnx/more
adds test_data_is_packed "tests/fuzz/corpus/fuzz_zip holds packed ones" \
    tests/fuzz/corpus/fuzz_zip/empty.zip 'PK'
adds test_data_is_packed "tests/mutants/lower holds packed ones" tests/mutants/lower/odd.txt 'odd\n'
adds test_data_is_packed "begins with no line 'mutant NAME'" tests/mutants/odd.txt 'odd\n'
settle
mkdir -p "$copy/include/ingot"
printf '/* row */\n%.0s' {1..401} >"$copy/compose/more.def"
warns files_are_small "compose/more.def:401: 401 lines; more than 500 fail"
restore compose/more.def
printf '/* line */\n%.0s' {1..251} >"$copy/include/ingot/more.h"
warns files_are_small "include/ingot/more.h:251: 251 lines; more than 300 fail"
restore include/ingot/more.h
printf '/* row */\n%.0s' {1..500} >>"$copy/ir/ops.def"
output=$(cd "$copy" && scripts/check-structure files_are_small 2>&1)
report $? "ir/ops.def has a row an op, and is not small:
$output"
restore ir/ops.def
adds files_are_small "2000 lines, at most 500" frontend/torch/aten/more.def \
    "$(printf '/* row */\\n%.0s' {1..2000})"
adds lines_are_short "columns, at most 88" base/vec.c \
    "int i = $(printf '1 + %.0s' {1..30})1;\n"

for file in base/vec.c tools/ingot/main.c tests/unit/ir/long_case.c; do # tests are no exception
    adds functions_are_small "fill_all has 82 lines, at most" "$file" \
        "static void fill_all(int *a) {\n$(printf '    a++;\\n%.0s' {1..80})}\n"
done
adds functions_are_small "take_many has 9 parameters" base/vec.c \
    'static void take_many(int a, int b, int c, int d, int e, int f, int g, int h, int i) {\n}\n'
adds nesting_is_shallow "nesting of 5, at most 4" tests/unit/ir/long_case.c \
    "static void go_deep(int a) {\n$(printf 'if (a) {%.0s' {1..5})a++;$(printf '}%.0s' {1..5})\n}\n"
adds files_are_small "lines, at most" tests/unit/ir/large_case.c "$(printf '/* line */\\n%.0s' {1..1000})"
adds python_is_small "lines, at most 1200" tests/differential/graph.py "$(printf '# line\\n%.0s' {1..1200})"

adds static_functions_are_phrases "static function combine is one word" ir/graph.c \
    'static void combine(void) {}\n'

settle

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

settle

# ---- rooms by symbols: a build of two objects that ask each other ----

build=$copy/build/release
mkdir -p "$build"/{media,ir}/CMakeFiles/{a,b}.dir
object() { # SOURCE FOLDER TEXT: an object of that text, as if it were the source's
    printf '%b' "$3" | "${CC:-cc}" -x c -c -o "$build/$2.o" -
}
rooms() {
    (cd "$copy" && INGOT_BUILD=build/release scripts/check-rooms 2>&1)
}
object media/image.c media/CMakeFiles/a.dir/image.c 'int f(void);int g(void){return f();}'
object ir/attr.c ir/CMakeFiles/b.dir/attr.c 'int f(void){return 0;}'
printf '#include "ir/graph.h"\n' >>"$copy/media/image.c"
output=$(rooms)
report $? "rooms in one direction are found:
$output"
object ir/attr.c ir/CMakeFiles/b.dir/attr.c 'int g(void);int f(void){return g();}'
output=$(rooms)
grep -q 'a circle of rooms: ir media' <<<"$output" &&
    grep -q 'media -> ir: 1 symbols, such as f in media/image.c' <<<"$output"
report $? "a circle by symbols is not found:
$output"
object media/image.c media/CMakeFiles/a.dir/image.c 'int g(void){return 0;}'
output=$(rooms)
grep -qF 'ir/attr.c:1: asks for g of media/image.c, but includes no header of media/' <<<"$output"
report $? "a call through a prototype of nowhere is not found:
$output"
printf 'typedef int fn(void);\nfn g;\n' >>"$copy/ir/type.h"
output=$(rooms)
grep -q '^ir/type.h:[0-9]*: declares g of media/image.c$' <<<"$output"
report $? "a header that declares what another room defines is not found:
$output"
restore ir/type.h
object media/image.c media/CMakeFiles/a.dir/image.c \
    'int ig_alone(void){return 0;}int g(void){return ig_alone();}'
sed -i 's/^SPARE = .*/SPARE = 0/' "$copy/scripts/structure/rooms.py"
output=$(rooms)
restore scripts/structure/rooms.py
grep -qF 'media/image.c:1: ig_alone is exported, but only this file uses it' <<<"$output"
report $? "an export that nobody asks for is not found:
$output"
object media/image.c media/CMakeFiles/a.dir/image.c 'int f(void);int g(void){return f();}'
mv "$build/ir/CMakeFiles/b.dir/attr.c.o" "$build/ir/CMakeFiles/b.dir/ops.c.o"
output=$(rooms)
report $? "a registry closes a circle:
$output"
restore media/image.c

# ---- history ----

repository=$(mktemp -d)
trap 'rm -rf "$copy" "$repository"' EXIT
commit() { # SUBJECT [BODY]
    (cd "$repository" && git add -A &&
        git -c user.name=t -c user.email=t@t commit -q --allow-empty -m "$1" ${2:+-m "$2"})
}
history() { # WORDS SUBJECT [BODY]: after that commit the check says so; "": nothing
    local output first=HEAD~1
    commit "${@:2}"
    output=$(cd "$repository" && "$copy/scripts/check-history" "$first" 2>&1)
    if [ -z "$1" ]; then
        grep -q '^1 passed, 0 failed$' <<<"$output"
    else
        grep -qF -- "$1" <<<"$output" && grep -q '^0 passed, 1 failed$' <<<"$output"
    fi
    report $? "check-history after '$2' does not say '$1':
$output"
}
git -C "$repository" init -q
mkdir -p "$repository/base/text"
printf 'line\n%.0s' {1..300} >"$repository/base/text/arena.c"
commit "base: a file"
history "" "base/text: a change that has an area"
history "" "arena: a change of a file"
history "" "arena.c, text: two areas"
history "a subject of 76 columns" \
    "base: a subject that has so many words that no terminal shows them in a row…"
history "'words' is no area" "words: of no file"
history "is no area" "no area at all"
printf 'more\n%.0s' {1..101} >>"$repository/base/text/arena.c"
history "101 changed lines and no body" "base: many lines"
printf 'more\n%.0s' {1..101} >>"$repository/base/text/arena.c"
history "" "base: many lines" "They are why."
mkdir "$repository/base/other"
mv "$repository/base/text/arena.c" "$repository/base/other/"
history "" "base: a pure move of many lines"
output=$(cd "$repository" && "$copy/scripts/check-history" 0123456789 2>&1)
grep -q '^0 passed, 0 failed, 1 skipped$' <<<"$output"
report $? "check-history without that commit is no skip:
$output"
output=$(cd "$copy" && GIT_CEILING_DIRECTORIES=$(dirname "$copy") scripts/check-history 2>&1)
grep -q '^0 passed, 0 failed, 1 skipped$' <<<"$output"
report $? "check-history without a repository is no skip:
$output"

# ---- room for one more ----

# Each room takes one more file.
while read -r folder; do
    printf '/* One more.\n * SPDX-License-Identifier: Apache-2.0 */\n' \
        >"$copy/$folder/one_more_file.c"
done < <(cd "$copy" && find base media ir compose frontend passes codegen runtime driver \
    tools -name '*.c' -printf '%h\n' | sort -u)
output=$(cd "$copy" && scripts/check-structure folders_are_small files_say_what_they_are 2>&1)
report $? "a room has no place for a file:
$output"
find "$copy" -name one_more_file.c -delete
# One ONNX row, one verb, one line of each public header.
for file in "$copy"/frontend/onnx/ops/*/*.def "$copy"/include/ingot/*.h; do
    printf '/* one more */\n' >>"$file"
done
printf '/* A verb.\n * SPDX-License-Identifier: Apache-2.0 */\n' \
    >"$copy/tools/ingot/verbs/one_more.c"
output=$(cd "$copy" && scripts/check-structure folders_are_small files_are_small 2>&1)
report $? "no place for a row, a verb or a line of the API:
$output"
restore $(cd "$copy" && echo frontend/onnx/ops/*/*.def include/ingot/*.h) \
    tools/ingot/verbs/one_more.c

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
