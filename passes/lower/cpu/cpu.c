/* What the CPU's schedules share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/cpu/cpu.h"

#include "passes/lower/math_more.h"

#include "base/checked.h"
#include "base/writer.h"

const ig_lower_family ig_lower_cpu[] = {
    { "gemm", ig_lower_cpu_gemm },
    { "dot", ig_lower_cpu_dot },
    { "bag", ig_lower_cpu_bag },
    { "interact", ig_lower_cpu_interact },
    { "map", ig_lower_cpu_map },
    { "copy", ig_lower_cpu_map },
    { "gather", ig_lower_cpu_gather },
    { "reduce", ig_lower_cpu_reduce },
    { "softmax", ig_lower_cpu_softmax },
    { "pad", ig_lower_cpu_pad },
    { "scan", ig_lower_cpu_scan },
    { "range", ig_lower_cpu_range },
    { "scatter", ig_lower_cpu_scatter },
    { "arg", ig_lower_cpu_arg },
    { "random", ig_lower_cpu_random },
    { "search", ig_lower_cpu_search },
    { "conv", ig_lower_cpu_conv },
    { "pool", ig_lower_cpu_pool },
    { NULL, NULL },
};

ig_op *ig_cpu_anchor(const ig_lower *lower, ig_opcode code) {
    for (ig_op *op = lower->body->first; op; op = op->next) {
        if (op->code == code) {
            return op;
        }
    }
    return NULL;
}

const ig_operand *ig_cpu_input(const ig_lower *lower, const ig_op *op, uint32_t index) {
    const ig_value *value = ig_op_operand(op, index);
    bool is_input = value && !value->def && value->block == lower->body;
    return is_input ? &lower->ins[value->index] : NULL;
}

static const bool expands[IG_OP_COUNT] = {
    [IG_OP_exp] = true,     [IG_OP_log] = true,      [IG_OP_log1p] = true,
    [IG_OP_sin] = true,     [IG_OP_cos] = true,      [IG_OP_tanh] = true,
    [IG_OP_erf] = true,     [IG_OP_pow] = true,      [IG_OP_mod] = true,
    [IG_OP_sigmoid] = true, [IG_OP_softplus] = true, [IG_OP_gcd] = true,
    [IG_OP_lcm] = true,     [IG_OP_gelu] = true,
};

bool ig_cpu_is_heavy(const ig_block *body) {
    uint32_t count = 0;
    for (const ig_op *op = body->first; op; op = op->next) {
        bool is_function = expands[op->code] ||
                           ig_math_is_in_double((ig_opcode)op->code);
        if (is_function || ++count > 12) {
            return true;
        }
    }
    return false;
}

const char *ig_cpu_name(ig_lower *lower, const char *family) {
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

ig_value *ig_cpu_scratch(ig_lower *lower, int64_t floats) {
    const ig_type *type = ig_type_buffer(lower->module, IG_DT_f32, 0, NULL);
    ig_attr offset = ig_attr_of_int(lower->scratch);
    ig_attr attrs[IG_scratch_attr_count] = { [IG_scratch_offset] = offset };
    ig_op_spec spec = { .attrs = attrs, .result_types = &type, .result_count = 1 };
    lower->scratch += (int64_t)ig_align_up((size_t)floats * 4, 64);
    return ig_make_op(&lower->b, IG_OP_scratch, &spec)->results;
}

void ig_cpu_each_tile(ig_lower *lower,
                      void (*emit)(void *user, ig_builder *b, ig_value *tile),
                      void *user) {
    ig_value *begin = NULL, *end = NULL;
    k_tiles(&lower->b, &begin, &end);
    k_loop loop = k_loop_open(&lower->b, begin, end, k_i64(&lower->b, 1), NULL, 0);
    emit(user, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

ig_cpu_blocks ig_cpu_open_blocks(ig_builder *b, ig_value *total, uint32_t most) {
    ig_value *count = k_ceil_div(b, total, most);
    ig_value *base = k_div(b, total, count), *extra = k_mod(b, total, count);
    ig_cpu_blocks blocks = { .count = count };
    blocks.loop = k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), NULL, 0);
    ig_builder *in = &blocks.loop.b;
    ig_value *number = blocks.loop.index;
    ig_value *is_longer = k_compare(in, IG_OP_lt, number, extra);
    blocks.rows = k_add(in, base, k_cast(in, is_longer, IG_DT_i64));
    blocks.skipped = k_add(in, k_mul(in, number, base), k_min(in, number, extra));
    return blocks;
}
