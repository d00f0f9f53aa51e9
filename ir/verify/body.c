/* The verifier: ops with bodies, and what passes in and out of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * No infer hook types these ops, so their whole meaning is checked here, one row each.
 * Nor does one type a host value of nothing, or the results of the user's own
 * operators, whose rows are here too.
 */
#include "ir/verify/verifier.h"

#include "base/custom/custom.h"
#include "ir/bag.h"

#include <string.h>

/* ---- building blocks of the rows ---- */

static bool types_agree(const ig_verifier *v, const ig_type *a, const ig_type *b) {
    return ig_types_agree(v->module, a, b);
}

/* The same but for extents, which may change from trip to trip; a carried
 * sequence of items of any rank may be one of a rank. */
static bool is_alike(const ig_type *given, const ig_type *taken) {
    while (given->element && taken->element && given->kind == taken->kind) {
        given = given->element;
        taken = taken->element;
    }
    bool is_any = taken->kind == IG_ANY && given->kind == IG_TENSOR;
    return (is_any || (given->kind == taken->kind && given->rank == taken->rank)) &&
           given->dtype == taken->dtype && given->lanes == taken->lanes &&
           given->element == taken->element;
}

static bool is_single(const ig_type *type, ig_dtype dtype) {
    bool is_plain = type->kind == IG_TENSOR || type->kind == IG_BUFFER ||
                    (type->kind == IG_VECTOR && type->lanes == 1);
    return is_plain && type->dtype == dtype && type->rank <= 1;
}

static void expect_single(ig_verifier *v, const ig_op *op, const ig_type *type,
                          ig_dtype dtype, const char *what) {
    if (!is_single(type, dtype)) {
        ig_verify_defect(v, op, "%s must be one %s, not %s", what,
                         ig_dtypes[dtype].name, ig_verify_type(v, type));
    }
}

static bool expect_args(ig_verifier *v, const ig_op *op, uint32_t body,
                        uint32_t count) {
    uint32_t found = op->bodies[body]->arg_count;
    if (found != count) {
        ig_verify_defect(v, op, "body %u must have %u arguments, not %u", body, count,
                         found);
    }
    return found == count;
}

static bool expect_yields(ig_verifier *v, const ig_op *op, uint32_t body,
                          uint32_t count) {
    uint32_t found = op->bodies[body]->last->operand_count;
    if (found != count) {
        ig_verify_defect(v, op, "body %u must yield %u values, not %u", body, count,
                         found);
    }
    return found == count;
}

static const ig_type *arg_type(const ig_op *op, uint32_t index) {
    return op->bodies[0]->args[index]->type;
}

static const ig_type *yield_type(const ig_op *op, uint32_t body, uint32_t index) {
    return ig_verify_operand(op->bodies[body]->last, index);
}

/* A body that sees only its arguments. */
static void expect_closed(ig_verifier *v, const ig_op *op, const ig_block *block) {
    for (const ig_op *inner = block->first; inner; inner = inner->next) {
        for (uint32_t i = 0; i < inner->operand_count; i++) {
            if (ig_value_is_outside(inner->operands[i].value, op->bodies[0])) {
                ig_verify_defect(v, inner, "operand %u comes from outside of the %s", i,
                                 ig_ops[op->code].name);
            }
        }
        for (uint32_t i = 0; i < inner->body_count; i++) {
            expect_closed(v, op, inner->bodies[i]);
        }
    }
}

/* ---- the rows ---- */

static void check_if(ig_verifier *v, const ig_op *op) {
    expect_single(v, op, ig_verify_operand(op, 0), IG_DT_bool, "the condition");
    for (uint32_t body = 0; body < 2; body++) {
        if (!expect_args(v, op, body, 0) ||
            !expect_yields(v, op, body, op->result_count)) {
            continue;
        }
        for (uint32_t i = 0; i < op->result_count; i++) {
            if (!is_alike(yield_type(op, body, i), op->results[i].type)) {
                ig_verify_defect(v, op, "body %u yields %s for result %u", body,
                                 ig_verify_type(v, yield_type(op, body, i)), i);
            }
        }
    }
}

/* Result k of a loop is the last value carried, or all values yielded, stacked. */
static void check_loop_result(ig_verifier *v, const ig_op *op, uint32_t k,
                              uint32_t carried) {
    const ig_type *yielded = yield_type(op, 0, k + 1), *result = op->results[k].type;
    if (k < carried) {
        const ig_type *arg = arg_type(op, k + 2);
        if (!is_alike(yielded, arg) || !is_alike(ig_verify_operand(op, k + 2), arg) ||
            !is_alike(arg, result) || !is_alike(result, arg)) {
            ig_verify_defect(v, op, "carried value %u changes its type", k);
        }
        return;
    }
    bool is_stacked = result->kind == yielded->kind &&
                      result->dtype == yielded->dtype &&
                      result->rank == yielded->rank + 1;
    if (!is_stacked || yielded->kind == IG_SEQUENCE || yielded->kind == IG_OPTIONAL) {
        ig_verify_defect(v, op, "result %u does not stack the yielded value", k);
    }
}

static void check_loop(ig_verifier *v, const ig_op *op) {
    int64_t scans = ig_attr_int(op, IG_loop_scans, 0);
    uint32_t carried = op->operand_count - 2u;
    expect_single(v, op, ig_verify_operand(op, 0), IG_DT_i64, "the trip count");
    expect_single(v, op, ig_verify_operand(op, 1), IG_DT_bool, "the condition");
    if (scans < 0 || scans + carried != op->result_count) {
        ig_verify_defect(v, op, "%u values carried and %lld scanned are not %u results",
                         carried, (long long)scans, op->result_count);
        return;
    }
    if (!expect_args(v, op, 0, carried + 2) ||
        !expect_yields(v, op, 0, 1u + op->result_count)) {
        return;
    }
    expect_single(v, op, arg_type(op, 0), IG_DT_i64, "argument 0");
    expect_single(v, op, arg_type(op, 1), IG_DT_bool, "argument 1");
    expect_single(v, op, yield_type(op, 0, 0), IG_DT_bool, "the first value yielded");
    for (uint32_t k = 0; k < op->result_count; k++) {
        check_loop_result(v, op, k, carried);
    }
}

/* Arguments one an input, yields one an output; both may be buffers outside. */
static void check_region(ig_verifier *v, const ig_op *op, uint32_t ins, uint32_t outs) {
    if (!expect_args(v, op, 0, ins) || !expect_yields(v, op, 0, outs)) {
        return;
    }
    for (uint32_t i = 0; i < ins; i++) {
        const ig_type *outside = ig_verify_operand(op, i), *inside = arg_type(op, i);
        bool fits = inside->kind == IG_TABLE || outside->kind == IG_TABLE
                        ? types_agree(v, inside, outside)
                        : inside->dtype == outside->dtype &&
                              inside->rank == outside->rank;
        for (uint32_t k = 0; fits && k < inside->rank; k++) {
            fits = ig_dim_equal(v->module, inside->dims[k], outside->dims[k]) != IG_NO;
        }
        if (!fits) {
            ig_verify_defect(v, op, "argument %u does not fit operand %u", i, i);
        }
    }
    expect_closed(v, op, op->bodies[0]);
}

static void check_out(ig_verifier *v, const ig_op *op, uint32_t index,
                      const ig_type *outside) {
    const ig_type *yielded = yield_type(op, 0, index);
    bool fits = yielded->dtype == outside->dtype && yielded->rank == outside->rank;
    for (uint32_t k = 0; fits && k < yielded->rank; k++) {
        fits = ig_dim_equal(v->module, yielded->dims[k], outside->dims[k]) != IG_NO;
    }
    if (!fits) {
        ig_verify_defect(v, op, "yielded value %u is %s, not %s", index,
                         ig_verify_type(v, yielded), ig_verify_type(v, outside));
    }
}

static void check_fused(ig_verifier *v, const ig_op *op) {
    check_region(v, op, op->operand_count, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (op->bodies[0]->last->operand_count == op->result_count) {
            check_out(v, op, i, op->results[i].type);
        }
    }
}

/* A row of outer values: the same, with an extent of 1 first. */
static bool is_row_of(ig_verifier *v, const ig_type *row, const ig_type *matrix) {
    return row->kind == IG_TENSOR && row->dtype == matrix->dtype && row->rank == 2 &&
           ig_dim_is(row->dims[0], 1) &&
           ig_dim_equal(v->module, row->dims[1], matrix->dims[1]) != IG_NO;
}

/* It uses constants from outside, which passes share. */
static void expect_constants(ig_verifier *v, const ig_op *op) {
    for (const ig_op *inner = op->bodies[0]->first; inner; inner = inner->next) {
        for (uint32_t i = 0; i < inner->operand_count; i++) {
            const ig_value *value = inner->operands[i].value;
            if (ig_value_is_outside(value, op->bodies[0]) &&
                !ig_def(value, IG_OP_const)) {
                ig_verify_defect(v, inner, "operand %u comes from outside of the %s", i,
                                 ig_ops[op->code].name);
            }
        }
    }
}

static void check_bag_update(ig_verifier *v, const ig_op *op) {
    if (!ig_bag_update_counts_fit(op)) {
        return; /* infer says so */
    }
    uint32_t own = 1 + ig_bag_update_states(op), first = ig_bag_update_scalars(op);
    if (!expect_args(v, op, 0, own + 1 + op->operand_count - first) ||
        !expect_yields(v, op, 0, own)) {
        return;
    }
    bool fits = is_row_of(v, arg_type(op, 1), ig_verify_operand(op, 0));
    for (uint32_t i = 0; i < op->result_count; i++) {
        uint32_t index = i % own; /* the gradient is argument 1 */
        const ig_type *matrix =
            ig_verify_operand(op, ig_bag_update_at(op, i / own).weight + index);
        fits = fits && is_row_of(v, arg_type(op, index + (index > 0)), matrix) &&
               is_row_of(v, yield_type(op, 0, index), matrix);
    }
    for (uint32_t i = first; i < op->operand_count; i++) {
        fits = fits &&
               is_alike(ig_verify_operand(op, i), arg_type(op, own + 1 + i - first));
    }
    if (!fits) {
        ig_verify_defect(v, op, "the body does not take and give rows of the operands");
    }
    expect_constants(v, op);
}

static void check_compute(ig_verifier *v, const ig_op *op) {
    int64_t outs = ig_attr_int(op, IG_compute_outs, 0);
    if (outs < 0 || outs > op->operand_count) {
        ig_verify_defect(v, op, "%u operands cannot hold %lld destinations",
                         op->operand_count, (long long)outs);
        return;
    }
    uint32_t ins = op->operand_count - (uint32_t)outs;
    check_region(v, op, ins, (uint32_t)outs);
    for (uint32_t i = 0; i < (uint32_t)outs; i++) {
        if (op->bodies[0]->last->operand_count == (uint32_t)outs) {
            check_out(v, op, i, ig_verify_operand(op, ins + i));
        }
    }
}

static void check_rows(ig_verifier *v, const ig_op *op) {
    expect_yields(v, op, 0, 0);
    if (ig_attr_int(op, IG_rows_block, 0) < 1) {
        ig_verify_defect(v, op, "a block has at least one row");
    }
}

static void check_prepare(ig_verifier *v, const ig_op *op) {
    expect_yields(v, op, 0, 0);
    if (op->block->parent) {
        ig_verify_defect(v, op, "weights are prepared in the graph's own block");
    }
}

static void check_for(ig_verifier *v, const ig_op *op) {
    uint32_t carried = op->operand_count - 3u;
    for (uint32_t i = 0; i < 3; i++) {
        expect_single(v, op, ig_verify_operand(op, i), IG_DT_i64, "a bound");
    }
    if (op->result_count != carried) {
        ig_verify_defect(v, op, "%u values carried are not %u results", carried,
                         op->result_count);
        return;
    }
    if (!expect_args(v, op, 0, carried + 1) || !expect_yields(v, op, 0, carried)) {
        return;
    }
    expect_single(v, op, arg_type(op, 0), IG_DT_i64, "argument 0");
    for (uint32_t k = 0; k < carried; k++) {
        const ig_type *type = op->results[k].type;
        if (ig_verify_operand(op, k + 3) != type || arg_type(op, k + 1) != type ||
            yield_type(op, 0, k) != type) {
            ig_verify_defect(v, op, "carried value %u changes its type", k);
        }
    }
}

/* ---- host values of nothing ---- */

static void check_seq_empty(ig_verifier *v, const ig_op *op) {
    const ig_type *type = op->results[0].type;
    bool is_good = type->kind == IG_SEQUENCE &&
                   (type->element->kind == IG_TENSOR ||
                    type->element->kind == IG_ANY) &&
                   type->element->dtype == ig_attr_int(op, IG_seq_empty_of, 0);
    if (!is_good) {
        ig_verify_defect(v, op, "the result is %s, not a sequence of such tensors",
                         ig_verify_type(v, type));
    }
}

static void check_opt_none(ig_verifier *v, const ig_op *op) {
    const ig_type *type = op->results[0].type;
    if (type->kind != IG_OPTIONAL) {
        ig_verify_defect(v, op, "the result is %s, not an optional",
                         ig_verify_type(v, type));
    }
}

/* ---- operators of the user's own ---- */

/* Is it of the tensors that a function of C can be given? */
static bool is_given_to_c(const ig_value *value) {
    return value->type && value->type->kind == IG_TENSOR;
}

static void check_custom(ig_verifier *v, const ig_op *op) {
    const ig_attr *own = &op->attrs[IG_custom_own];
    bool is_good = op->operand_count + op->result_count <= IG_CUSTOM_MAX_TENSORS &&
                   strstr(ig_attr_str(op, IG_custom_function), "::");
    for (uint32_t i = 0; is_good && i < op->operand_count; i++) {
        is_good = is_given_to_c(op->operands[i].value);
    }
    for (uint32_t i = 0; is_good && i < op->result_count; i++) {
        is_good = is_given_to_c(&op->results[i]) &&
                  op->results[i].type->dtype != IG_DT_str;
    }
    for (uint32_t i = 0; is_good && i < own->count; i += 2) {
        int64_t result = own->as.ints[i];
        int64_t axis = i + 1 < own->count ? own->as.ints[i + 1] : -1;
        is_good = result >= 0 && result < op->result_count && axis >= 0 &&
                  axis < op->results[result].type->rank;
    }
    if (!is_good) {
        ig_verify_defect(
            v, op,
            "a function domain::Op takes and gives at most %d tensors (no texts), and its extents are those of its results",
            IG_CUSTOM_MAX_TENSORS);
    }
}

typedef void (*body_check)(ig_verifier *v, const ig_op *op);

static const body_check checks[IG_OP_COUNT] = {
    [IG_OP_if] = check_if,
    [IG_OP_loop] = check_loop,
    [IG_OP_fused] = check_fused,
    [IG_OP_bag_update] = check_bag_update,
    [IG_OP_compute] = check_compute,
    [IG_OP_rows] = check_rows,
    [IG_OP_prepare] = check_prepare,
    [IG_OP_for] = check_for,
    [IG_OP_seq_empty] = check_seq_empty,
    [IG_OP_opt_none] = check_opt_none,
    [IG_OP_custom] = check_custom,
};

void ig_verify_bodies(ig_verifier *verifier, const ig_op *op) {
    if (checks[op->code]) {
        checks[op->code](verifier, op);
    }
}
