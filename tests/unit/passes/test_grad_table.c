/* How many rows of ops.def have a gradient.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Counted are rows of tensor graphs, no host ops, that take and give floats: those of
 * which some graph of the corpus or of grad_rows.def does.  A row has a gradient by its
 * rule, or by being taken apart.
 */
#include "compose/decompose.h"
#include "ir/parse/read.h"
#include "passes/grad/rule.h"
#include "tests/fuzz/archive.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 20, MIN_PERCENT = 95 };

/* Those that lack it; docs/training.md says why. */
static const ig_opcode lacking[] = {
    IG_OP_bitcast, IG_OP_bag_update, IG_OP_all_gather, IG_OP_meet_lists, IG_OP_fused,
};

/* Made by passes/place, after gradients. */
static const ig_opcode of_layouts[] = { IG_OP_conv_winograd };

/* Their rules are held by test_ranks_train. */
static const ig_opcode of_ranks[] = {
    IG_OP_shard,
    IG_OP_all_to_all,
    IG_OP_reduce_scatter,
    IG_OP_all_reduce,
};

static const char *const rows[] = {
#define ROW(name, low, high, arguments, type, ops) \
    "module @m {\ngraph @main(" arguments ") -> (" type ") {\n" ops "\nret %y\n}\n}\n",
#include "tests/unit/passes/grad_rows.def"
#undef ROW
};

/* By op: does it take and give floats anywhere; is its gradient held against slopes? */
typedef struct seen {
    bool of_floats[IG_OP_COUNT], in_rows[IG_OP_COUNT];
} seen;

static bool is_float(const ig_value *value) {
    return value->type->kind == IG_TENSOR &&
           ig_dtype_is_float((ig_dtype)value->type->dtype);
}

/* Bodies read floats of outside. */
static bool reads_floats(const ig_op *op) {
    bool is_it = false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        is_it |= is_float(op->operands[i].value);
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *in = op->bodies[i]->first; in; in = in->next) {
            is_it |= reads_floats(in);
        }
    }
    return is_it;
}

static void look_at(const ig_block *block, bool *of_floats) {
    for (const ig_op *op = block->first; op; op = op->next) {
        bool gives = false;
        for (uint32_t i = 0; i < op->result_count; i++) {
            gives |= is_float(&op->results[i]);
        }
        of_floats[op->code] |= gives && reads_floats(op);
        for (uint32_t i = 0; i < op->body_count; i++) {
            look_at(op->bodies[i], of_floats);
        }
    }
}

static void read_text(ig_str text, bool *of_floats) {
    ig_context context = { .limits = ig_limits_default };
    ig_module *module = NULL;
    if (ig_parse_module(&context, "text.ig", text, &module) == IG_OK) {
        for (size_t i = 0; i < module->graphs.count; i++) {
            look_at(&((const ig_graph *)module->graphs.items[i])->body, of_floats);
        }
        ig_module_destroy(module);
    }
}

static void look_everywhere(seen *s) {
    static char bytes[TEXT_BYTES];
    char name[ARCHIVE_NAME_BYTES];
    size_t size = 0;
    FILE *file = fopen(INGOT_SOURCE_DIR "/tests/fuzz/corpus/fuzz_ir_parse.tar", "rb");
    CHECK(file);
    while (archive_next(file, name, (uint8_t *)bytes, sizeof bytes, &size)) {
        read_text((ig_str){ bytes, size }, s->of_floats);
    }
    fclose(file);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        read_text(ig_str_of(rows[i]), s->in_rows);
    }
}

static bool is_listed(const ig_opcode *list, size_t count, uint32_t code) {
    for (size_t i = 0; i < count; i++) {
        if (list[i] == code) {
            return true;
        }
    }
    return false;
}

static bool may_lack(uint32_t code) {
    return is_listed(lacking, IG_COUNT_OF(lacking), code);
}

static bool is_counted(const seen *s, uint32_t code) {
    const ig_op_info *row = &ig_ops[code];
    bool is_seen = s->of_floats[code] || s->in_rows[code] || may_lack(code);
    return is_seen && row->stages & IG_STAGE_TENSOR && !(row->traits & IG_HOST) &&
           !is_listed(of_layouts, IG_COUNT_OF(of_layouts), code);
}

static bool has_gradient(uint32_t code) {
    return ig_grad_rule_of(code) || ig_decomposition_of((ig_opcode)code);
}

TEST(rows_of_floats_have_a_gradient) {
    seen s = { { false }, { false } };
    uint32_t all = 0, with = 0;
    look_everywhere(&s);
    for (uint32_t code = 0; code < IG_OP_COUNT; code++) {
        if (!is_counted(&s, code)) {
            continue;
        }
        CHECK_MSG(has_gradient(code) != may_lack(code), "'%s' %s", ig_ops[code].name,
                  may_lack(code) ? "has a gradient, and is listed among those without"
                                 : "has no gradient, and is not listed");
        all++;
        with += has_gradient(code);
    }
    CHECK_MSG(100 * with >= MIN_PERCENT * all, "only %u of %u have one", with, all);
}
END_TEST

TEST(every_rule_is_held_against_slopes) {
    seen s = { { false }, { false } };
    look_everywhere(&s);
    for (uint32_t code = 0; code < IG_OP_COUNT; code++) {
        bool is_held = s.in_rows[code] || !ig_grad_rule_of(code) ||
                       is_listed(of_ranks, IG_COUNT_OF(of_ranks), code);
        CHECK_MSG(is_held, "grad_rows.def has no graph with '%s'", ig_ops[code].name);
    }
}
END_TEST

/* The page has a line for each that lacks it. */
TEST(the_page_lists_the_rest) {
    static char page[TEXT_BYTES];
    FILE *file = fopen(INGOT_SOURCE_DIR "/docs/training.md", "rb");
    CHECK(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    for (size_t i = 0; i < IG_COUNT_OF(lacking); i++) {
        char line[64];
        snprintf(line, sizeof line, "| `%s` | ", ig_ops[lacking[i]].name);
        CHECK_MSG(strstr(page, line), "docs/training.md has no line '%s'", line);
    }
}
END_TEST

UNIT_SUITE(grad_table, rows_of_floats_have_a_gradient,
           every_rule_is_held_against_slopes, the_page_lists_the_rest)
