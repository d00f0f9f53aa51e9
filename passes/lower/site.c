/* The body of a launch at one place of its iteration space.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A launch's body is elementwise but for its anchor, so one place of the space needs
 * the same place of every input, with broadcasting: inputs are aligned to the space's
 * last dims, an extent of 1 against a larger one is a stride of 0.  When it is only
 * known at bind whether an extent is 1, the stride is a param: stride * min(extent - 1,
 * 1), with 0 for an extent of 0, which is never read.
 *
 * An integer divided by zero is reported, as the interpreter does.
 */
#include "base/access.h"
#include "passes/lower/lower.h"

#include <assert.h>

enum { MAX_EVEN = 256 };

/* ---- loads ---- */

ig_dim ig_lower_step(ig_lower *lower, const ig_lower_operand *operand, uint32_t rank,
                     const ig_dim *dims, uint32_t d) {
    assert(operand->type->rank <= rank &&
           "inputs broadcast to the space, not beyond it");
    assert(d < rank && "an axis of the space");
    uint32_t missing = rank - operand->type->rank;
    if (d < missing) {
        return ig_dim_of(0);
    }
    ig_module *module = lower->module;
    ig_dim extent = operand->type->dims[d - missing];
    ig_dim stride = operand->strides[d - missing];
    if (ig_dim_equal(module, extent, dims[d]) == IG_YES) {
        return ig_dim_is(extent, 1) ? ig_dim_of(0) : stride;
    }
    if (ig_dim_is(extent, 1)) {
        return ig_dim_of(0);
    }
    if (ig_dim_equal(module, extent, ig_dim_of(1)) == IG_NO) {
        return stride;
    }
    ig_dim below = ig_dim_sub(module, extent, ig_dim_of(1));
    ig_dim is_wide = ig_dim_max(module, ig_dim_min(module, below, ig_dim_of(1)),
                                ig_dim_of(0));
    return ig_dim_mul(module, stride, is_wide);
}

static ig_value *stride_value(ig_lower *lower, ig_dim stride) {
    bool is_shared = lower->shares_strides && !ig_dim_is(stride, 0) &&
                     !ig_dim_is(stride, 1);
    return is_shared ? ig_lower_param(lower, stride) : ig_lower_dim(lower, stride);
}

ig_value *ig_lower_element(ig_lower *lower, const ig_site *site,
                           const ig_lower_operand *operand) {
    ig_value *index = k_i64(site->b, 0);
    for (uint32_t d = 0; d < site->rank; d++) {
        ig_dim stride = ig_lower_step(lower, operand, site->rank, site->dims, d);
        ig_value *by = stride_value(lower, stride);
        ig_value *step = k_mul(site->b, site->index[d], by);
        index = k_add(site->b, index, step);
    }
    return index;
}

/* Is the step along the lanes 0 or 1, as the run will know? */
static bool is_zero_or_one(const ig_lower *lower, ig_dim step) {
    int64_t min, max;
    ig_dim_range(lower->module, step, &min, &max);
    return min >= 0 && max <= 1;
}

/* Lanes side by side, or one element for all of them. */
static ig_value *load_by_step(const ig_site *site, ig_value *buffer, ig_value *index,
                              ig_value *step) {
    ig_builder *b = site->b;
    const ig_type *type = ig_type_vector(b->graph->module,
                                         (ig_dtype)buffer->type->dtype, site->lanes);
    k_if wide = k_if_open(b, k_compare(b, IG_OP_gt, step, k_i64(b, 0)), &type, 1);
    ig_value *each = k_load_count(&wide.then, buffer, index, site->lanes, site->count);
    ig_value *one = k_splat(&wide.other, k_load(&wide.other, buffer, index, 1),
                            site->lanes);
    k_if_close(&wide, &each, &one);
    return wide.results[0];
}

static ig_value *load_operand(ig_lower *lower, const ig_site *site,
                              const ig_lower_operand *operand) {
    assert(site->lanes > 0 && "a site has a lane");
    ig_value *index = ig_lower_element(lower, site, operand);
    if (site->lanes == 1 || site->rank == 0) {
        return k_splat(site->b, k_load(site->b, operand->buffer, index, 1),
                       site->lanes);
    }
    uint32_t last = site->rank - 1;
    ig_dim inner = ig_lower_step(lower, operand, site->rank, site->dims, last);
    if (ig_dim_is(inner, 0)) {
        return k_splat(site->b, k_load(site->b, operand->buffer, index, 1),
                       site->lanes);
    }
    if (ig_dim_is(inner, 1)) {
        return k_load_count(site->b, operand->buffer, index, site->lanes, site->count);
    }
    ig_value *step = stride_value(lower, inner);
    return is_zero_or_one(lower, inner)
               ? load_by_step(site, operand->buffer, index, step)
               : k_load_apart(site->b, operand->buffer, index, step, site->lanes,
                              site->count);
}

ig_value *ig_lower_load(ig_lower *lower, const ig_site *site,
                        const ig_lower_operand *operand) {
    return load_operand(lower, site, operand);
}

bool ig_lower_is_vectorizable(ig_lower *lower, uint32_t rank, const ig_dim *dims) {
    for (uint32_t i = 0; rank > 0 && i < lower->in_count; i++) {
        const ig_lower_operand *in = &lower->ins[i];
        ig_dim inner = in->type->rank > rank
                           ? ig_dim_of(1)
                           : ig_lower_step(lower, in, rank, dims, rank - 1);
        if (!is_zero_or_one(lower, inner)) {
            return false;
        }
    }
    return true;
}

/* ---- rows that a thread reads some lanes at a time ---- */

const ig_value *ig_lower_operand_value(const ig_lower *lower,
                                       const ig_lower_operand *operand) {
    bool is_out = operand >= lower->outs && operand < lower->outs + lower->out_count;
    size_t index = is_out ? lower->in_count + (size_t)(operand - lower->outs)
                          : (size_t)(operand - lower->ins);
    return lower->compute->operands[index].value;
}

static bool is_multiple(ig_dim dim, uint32_t of) {
    return ig_dim_is_static(dim) && ig_dim_value(dim) % of == 0;
}

static ig_root root_of(const ig_value *root) {
    if (root->def) {
        return root->def->code == IG_OP_alloc    ? IG_ROOT_buffer
               : root->def->code == IG_OP_weight ? IG_ROOT_weight
                                                 : IG_ROOT_unknown;
    }
    return root->block->parent ? IG_ROOT_unknown : IG_ROOT_port;
}

ig_lower_start ig_lower_start_of(const ig_value *operand) {
    const ig_op *view = ig_def(operand, IG_OP_view);
    ig_lower_start start = { root_of(view ? view->operands[0].value : operand),
                             MAX_EVEN };
    ig_dim offset = view ? view->attrs[IG_view_offset].as.dim : ig_dim_of(0);
    while (start.even > 1 && !is_multiple(offset, (uint32_t)start.even)) {
        start.even /= 2;
    }
    return start;
}

bool ig_lower_has_even_rows(const ig_lower *lower, const ig_lower_operand *x,
                            uint32_t lanes) {
    ig_lower_start start = ig_lower_start_of(ig_lower_operand_value(lower, x));
    if (x->type->rank == 0 || start.root == IG_ROOT_unknown) {
        return false;
    }
    uint32_t last = x->type->rank - 1;
    bool is_even = ig_dim_is(x->strides[last], 1) && start.even % lanes == 0;
    for (uint32_t d = 0; d < last; d++) {
        is_even &= is_multiple(x->strides[d], lanes);
    }
    return is_even;
}

/* ---- values ---- */

static ig_value *constant_value(const ig_site *site, const ig_op *op) {
    const ig_data *data = ig_constant_of(&op->results[0]);
    ig_dtype dtype = data->type->dtype;
    ig_tensor one = { .kind = IG_TENSOR,
                      .dtype = dtype,
                      .count = 1,
                      .data = (void *)(uintptr_t)data->bytes };
    double value = ig_tensor_get_f64(&one, 0);
    if (ig_dtype_is_int(dtype)) {
        int64_t exact = ig_tensor_get_i64(&one, 0);
        ig_value *wide = k_i64(site->b, exact);
        return k_splat(site->b, k_cast(site->b, wide, dtype), site->lanes);
    }
    return k_const_vector(site->b, dtype, site->lanes, value);
}

/* A shape of one element. */
static ig_value *dims_value(ig_lower *lower, const ig_site *site, const ig_op *op) {
    ig_value *one = ig_lower_dim(lower, op->attrs[IG_dims_values].as.dims[0]);
    return k_splat(site->b, one, site->lanes);
}

static const ig_lower_operand *input_of(ig_lower *lower, const ig_value *value) {
    assert(value->index < lower->in_count && "an argument per input");
    assert(!value->def && value->block == lower->body && "an input of the body");
    return &lower->ins[value->index];
}

/* ---- integers divided by zero ---- */

/* Does the divisor, a value of the body, never hold 0? */
static bool is_never_zero(const ig_lower *lower, const ig_value *divisor) {
    const ig_op *op = divisor->def;
    const ig_data *data = op ? ig_constant_of(divisor) : NULL;
    if (op && op->code == IG_OP_dims) {
        int64_t min, max;
        ig_dim_range(lower->module, op->attrs[IG_dims_values].as.dims[0], &min, &max);
        return min > 0 || max < 0;
    }
    if (!data || !data->bytes) {
        return false;
    }
    ig_tensor one = { .kind = IG_TENSOR,
                      .dtype = (ig_dtype)data->type->dtype,
                      .count = 1,
                      .data = (void *)(uintptr_t)data->bytes };
    return ig_tensor_get_i64(&one, 0) != 0;
}

/* Reports a divisor of 0 in any lane that counts, with one test a vector. */
static void check_divisor(const ig_site *site, ig_value *divisor) {
    ig_builder *b = site->b;
    uint32_t lanes = divisor->type->lanes;
    ig_dtype dtype = (ig_dtype)divisor->type->dtype;
    ig_value *zero = k_const_vector(b, dtype, lanes, 0);
    ig_value *is_zero = k_compare(b, IG_OP_eq, divisor, zero);
    if (lanes > 1 && site->count) {
        ig_value *count = k_splat(b, site->count, lanes);
        ig_value *is_meant = k_compare(b, IG_OP_lt, k_iota(b, lanes), count);
        is_zero = k_binary(b, IG_OP_and, is_zero, is_meant);
    }
    ig_value *is_good = k_unary(b, IG_OP_not, k_any(b, is_zero));
    k_if check = k_if_open(b, is_good, NULL, 0);
    ig_value *none = k_i64(&check.other, 0);
    k_report(&check.other, k_i64(&check.other, IG_REPORT_ZERO_DIVISOR), none, none);
    k_if_close(&check, NULL, NULL);
}

static bool divides_integers(const ig_op *op) {
    return (op->code == IG_OP_div || op->code == IG_OP_mod) &&
           ig_dtype_is_int((ig_dtype)op->operands[0].value->type->dtype);
}

static ig_value *new_value(ig_lower *lower, const ig_site *site,
                           const ig_value *value) {
    ig_op *op = value->def;
    if (!op) {
        return load_operand(lower, site, input_of(lower, value));
    }
    if (op->code == IG_OP_const) {
        return constant_value(site, op);
    }
    if (op->code == IG_OP_dims) {
        return dims_value(lower, site, op);
    }
    assert((ig_ops[op->code].traits & IG_MAP) && "anchors are preset by the schedule");
    assert(op->operand_count <= 4 && "room for the operands of an elementwise op");
    ig_value *operands[4];
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = ig_lower_value(lower, site, op->operands[i].value);
    }
    if (divides_integers(op) && !is_never_zero(lower, op->operands[1].value)) {
        check_divisor(site, operands[1]);
    }
    return ig_lower_scalar(site->b, op, operands);
}

/* Recursion is bounded by the size of a fused region (fuse.c). */
ig_value *ig_lower_value(ig_lower *lower, const ig_site *site, const ig_value *value) {
    ig_value *known = ig_map_get_id(site->values, IG_MAP_PTR(value));
    if (known) {
        return known;
    }
    known = new_value(lower, site, value);
    ig_map_set_id(site->values, IG_MAP_PTR(value), known);
    return known;
}

void ig_lower_store_yields(ig_lower *lower, const ig_site *site) {
    ig_op *yield = lower->body->last;
    assert(yield->operand_count == lower->out_count && "a yield per destination");
    for (uint32_t i = 0; i < lower->out_count; i++) {
        const ig_lower_operand *out = &lower->outs[i];
        ig_value *value = ig_lower_value(lower, site, yield->operands[i].value);
        ig_value *index = ig_lower_element(lower, site, out);
        k_store_count(site->b, value, out->buffer, index,
                      site->lanes == 1 ? NULL : site->count);
    }
}

void ig_lower_store_anchor(ig_lower *lower, ig_site site, const ig_op *anchor,
                           ig_value *value) {
    assert(anchor->result_count == 1 && "an epilogue is of one result");
    ig_map values;
    ig_map_init(&values, lower->arena);
    ig_map_set_id(&values, IG_MAP_PTR(anchor->results),
                  k_cast(site.b, value, (ig_dtype)anchor->results->type->dtype));
    site.values = &values;
    ig_lower_store_yields(lower, &site);
}
