/* What schedules of all targets share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/schedule.h"

#include "base/writer.h"
#include "passes/lower/math/more.h"

#include <assert.h>

ig_op *ig_lower_anchor(const ig_lower *lower, ig_opcode code) {
    for (ig_op *op = lower->body->first; op; op = op->next) {
        if (op->code == code) {
            return op;
        }
    }
    return NULL;
}

const ig_lower_operand *ig_lower_input(const ig_lower *lower, const ig_op *op,
                                       uint32_t index) {
    const ig_value *value = ig_op_operand(op, index);
    bool is_input = value && !value->def && value->block == lower->body;
    assert((!is_input || value->index < lower->in_count) && "an argument per input");
    return is_input ? &lower->ins[value->index] : NULL;
}

uint64_t ig_lower_only_of(const ig_lower *lower, const ig_op *anchor) {
    uint64_t inputs = 0;
    for (uint32_t i = 0; i < lower->in_count && i < 64; i++) {
        const ig_use *use = lower->body->args[i]->uses;
        while (use && use->user == anchor) {
            use = use->next;
        }
        inputs |= use ? 0 : (uint64_t)1 << i;
    }
    return inputs;
}

ig_lower ig_lower_without(const ig_lower *lower, uint64_t inputs) {
    ig_lower others = *lower;
    others.in_count = 0;
    others.ins = IG_NEW_ARRAY(lower->arena, ig_lower_operand, lower->in_count);
    for (uint32_t i = 0; i < lower->in_count; i++) {
        if (i >= 64 || !(inputs >> i & 1)) {
            others.ins[others.in_count++] = lower->ins[i];
        }
    }
    return others;
}

static const bool expands[IG_OP_COUNT] = {
    [IG_OP_exp] = true,     [IG_OP_log] = true,      [IG_OP_log1p] = true,
    [IG_OP_sin] = true,     [IG_OP_cos] = true,      [IG_OP_tanh] = true,
    [IG_OP_erf] = true,     [IG_OP_pow] = true,      [IG_OP_mod] = true,
    [IG_OP_sigmoid] = true, [IG_OP_softplus] = true, [IG_OP_gcd] = true,
    [IG_OP_lcm] = true,     [IG_OP_gelu] = true,     [IG_OP_expm1] = true,
    [IG_OP_exp2] = true,
};

bool ig_lower_is_heavy(const ig_block *body) {
    uint32_t count = 0;
    for (const ig_op *op = body->first; op; op = op->next) {
        bool is_function = expands[op->code] ||
                           ig_math_is_in_double((ig_opcode)op->code);
        count += op->code != IG_OP_const;
        if (is_function || count > 13) {
            return true;
        }
    }
    return false;
}

const char *ig_lower_name(ig_lower *lower, const char *family) {
    assert(family && "kernels are named after their family");
    ig_writer writer;
    ig_writer_init(&writer, lower->arena);
    ig_put(&writer, "%s", family);
    uint32_t named = 0;
    for (const ig_op *op = lower->body->first; op && named < 4; op = op->next) {
        if (ig_ops[op->code].traits & IG_MAP) {
            ig_put(&writer, "_%s", ig_ops[op->code].name);
            named++;
        }
    }
    return ig_writer_str(&writer).data;
}

void ig_lower_each_tile(ig_lower *lower,
                        void (*emit)(void *user, ig_builder *b, ig_value *tile),
                        void *user) {
    assert(lower->b.block == &lower->kernel->body &&
           "tiles are gone over at the top of the kernel");
    ig_value *begin = NULL, *end = NULL;
    k_tiles(&lower->b, &begin, &end);
    k_loop loop = k_loop_open(&lower->b, begin, end, k_i64(&lower->b, 1), NULL, 0);
    emit(user, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}
