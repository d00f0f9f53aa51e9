/* Jagged data: which lengths come before a position in a list of ids.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/bags/jagged.h"

enum { STEPS_MAX = 64, PARTS_MAX = 1 << 16, SUM_OPS = 4096 };

static bool is_equal(const ig_jagged *j, ig_dim a, ig_dim b) {
    return ig_dim_equal(j->module, a, b) == IG_YES;
}

/* ---- where elements come from ---- */

/* Elements of one row along axis 0. */
static ig_dim row_size(const ig_jagged *j, const ig_type *type) {
    return ig_dim_product(j->module, type->dims + 1, type->rank - 1u);
}

/* The row that contains a span; -1: none. */
static int64_t row_of(const ig_jagged *j, const ig_jagged_span *span, ig_dim row) {
    int64_t index = 0;
    if (ig_dim_less_equal(j->module, span->size, row) != IG_YES) {
        return -1;
    }
    if (!ig_dim_is(span->at, 0)) {
        ig_dim quotient = ig_dim_exact_div(j->module, span->at, row);
        if (!ig_dim_constant(j->module, quotient, &index) ||
            !is_equal(j, ig_dim_mul(j->module, row, ig_dim_const(j->module, index)),
                      span->at)) {
            return -1;
        }
    }
    return index;
}

static int64_t step_of(const ig_op *slice, uint32_t axis) {
    const ig_attr *steps = &slice->attrs[IG_slice_steps];
    return steps->kind == IG_ATTR_INTS ? steps->as.ints[axis] : 1;
}

/* Cut along axis 0 alone? */
static bool cuts_rows(const ig_jagged *j, const ig_op *slice) {
    const ig_type *type = ig_op_operand(slice, 0)->type;
    bool is_rows = slice->operand_count == 1 && type->rank > 0;
    for (uint32_t d = 1; is_rows && d < type->rank; d++) {
        is_rows = ig_dim_is(slice->attrs[IG_slice_starts].as.dims[d], 0) &&
                  step_of(slice, d) == 1 &&
                  is_equal(j, slice->attrs[IG_slice_sizes].as.dims[d], type->dims[d]);
    }
    return is_rows;
}

static bool step_slice(const ig_jagged *j, const ig_op *op, ig_jagged_span *span,
                       ig_value **out_list) {
    (void)out_list;
    if (!cuts_rows(j, op)) {
        return false;
    }
    ig_dim row = row_size(j, ig_op_operand(op, 0)->type);
    ig_dim start = ig_dim_mul(j->module, op->attrs[IG_slice_starts].as.dims[0], row);
    int64_t step = step_of(op, 0), index = 0;
    if (step != 1) {
        index = row_of(j, span, row);
        if (index < 0 || index > INT32_MAX || step > INT32_MAX || step < INT32_MIN) {
            return false;
        }
        ig_dim by = ig_dim_const(j->module, index * (step - 1));
        start = ig_dim_add(j->module, start, ig_dim_mul(j->module, row, by));
    }
    span->at = ig_dim_add(j->module, span->at, start);
    return true;
}

/* Entry `index` of a constant list; -1: not known. */
static int64_t known_index(const ig_value *indices, int64_t index) {
    const ig_data *data = ig_constant_of(indices);
    bool is_list = data && data->bytes && data->type->kind == IG_TENSOR &&
                   data->type->rank == 1 && ig_type_is_static(data->type) &&
                   index < ig_dim_value(data->type->dims[0]);
    if (!is_list) {
        return -1;
    }
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = (ig_dtype)data->type->dtype };
    tensor.count = data->is_splat ? 1 : ig_dim_value(data->type->dims[0]);
    tensor.data = (void *)(uintptr_t)data->bytes; /* only read */
    return ig_tensor_get_i64(&tensor, data->is_splat ? 0 : index);
}

static bool step_gather(const ig_jagged *j, const ig_op *op, ig_jagged_span *span,
                        ig_value **out_list) {
    (void)out_list;
    const ig_type *type = ig_op_operand(op, 0)->type;
    if (ig_attr_int(op, IG_gather_axis, 0) != 0 || type->rank == 0 ||
        ig_op_operand(op, 1)->type->rank != 1) {
        return false;
    }
    ig_dim row = row_size(j, type);
    int64_t index = row_of(j, span, row);
    int64_t from = index < 0 ? -1 : known_index(ig_op_operand(op, 1), index);
    if (from < 0) {
        return false;
    }
    ig_dim by = ig_dim_const(j->module, from - index);
    span->at = ig_dim_add(j->module, span->at, ig_dim_mul(j->module, row, by));
    return true;
}

static bool step_concat(const ig_jagged *j, const ig_op *op, ig_jagged_span *span,
                        ig_value **out_list) {
    ig_dim begin = ig_dim_of(0), past = ig_dim_add(j->module, span->at, span->size);
    if (ig_attr_int(op, IG_concat_axis, 0) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_dim count = ig_type_count(j->module, ig_op_operand(op, i)->type);
        ig_dim end = ig_dim_add(j->module, begin, count);
        if (ig_dim_less_equal(j->module, begin, span->at) == IG_YES &&
            ig_dim_less_equal(j->module, past, end) == IG_YES) {
            span->at = ig_dim_sub(j->module, span->at, begin);
            *out_list = ig_op_operand(op, i);
            return true;
        }
        begin = end;
    }
    return false;
}

static bool is_wider(const ig_op *cast) {
    const ig_dtype_info *from = &ig_dtypes[ig_op_operand(cast, 0)->type->dtype];
    const ig_dtype_info *to = &ig_dtypes[cast->results[0].type->dtype];
    return from->class == IG_SINT && to->class == IG_SINT && to->bits >= from->bits;
}

static bool step_reshape(const ig_jagged *j, const ig_op *op, ig_jagged_span *span,
                         ig_value **out_list) {
    (void)j, (void)span, (void)out_list;
    return op->operand_count == 1;
}

static bool step_cast(const ig_jagged *j, const ig_op *op, ig_jagged_span *span,
                      ig_value **out_list) {
    (void)j, (void)span, (void)out_list;
    return is_wider(op);
}

/* Through an op that only moves elements: moves `span` to where it was in *out_list,
 * the first operand unless the step says another. */
typedef bool (*step_fn)(const ig_jagged *j, const ig_op *op, ig_jagged_span *span,
                        ig_value **out_list);

static const step_fn steps[IG_OP_COUNT] = {
    [IG_OP_reshape] = step_reshape, [IG_OP_cast] = step_cast,
    [IG_OP_slice] = step_slice,     [IG_OP_gather] = step_gather,
    [IG_OP_concat] = step_concat,
};

bool ig_jagged_span_step(const ig_jagged *j, ig_jagged_span *span) {
    const ig_op *op = span->list->def;
    if (!op || op->operand_count == 0 || span->list->type->kind != IG_TENSOR) {
        return false;
    }
    ig_value *from = ig_op_operand(op, 0);
    step_fn step = steps[op->code];
    bool is_done = step && step(j, op, span, &from);
    span->list = is_done ? from : span->list;
    return is_done;
}

ig_jagged_span ig_jagged_span_origin(const ig_jagged *j, ig_jagged_span span) {
    for (uint32_t i = 0; i < STEPS_MAX && ig_jagged_span_step(j, &span); i++) {
    }
    return span;
}

bool ig_jagged_span_equal(const ig_jagged *j, const ig_jagged_span *a,
                          const ig_jagged_span *b) {
    return a->list == b->list && is_equal(j, a->at, b->at) &&
           is_equal(j, a->size, b->size);
}

/* ---- sums ---- */

static bool append_span(const ig_jagged *j, ig_jagged_spans *spans,
                        const ig_jagged_span *span) {
    if (spans->count) {
        ig_jagged_span *last = &IG_LAST(spans);
        ig_dim past = ig_dim_add(j->module, last->at, last->size);
        if (last->list == span->list && is_equal(j, past, span->at)) {
            last->size = ig_dim_add(j->module, last->size, span->size);
            return true;
        }
    }
    IG_PUSH(j->arena, spans, *span);
    return spans->count < PARTS_MAX;
}

/* Rows that were gathered one by one, or in other steps. */
static bool is_of_rows(const ig_value *list) {
    return list->type->rank == 2 && list->def &&
           (list->def->code == IG_OP_gather || list->def->code == IG_OP_slice);
}

/* Adds a span that has one origin, or one for each of its rows. */
bool ig_spans_add(const ig_jagged *j, ig_jagged_spans *spans, ig_jagged_span span) {
    if (ig_dim_is(span.size, 0)) {
        return true;
    }
    span = ig_jagged_span_origin(j, span);
    int64_t first = 0, count = 0;
    ig_dim row = is_of_rows(span.list) ? span.list->type->dims[1] : ig_dim_of(0);
    bool has_rows =
        !ig_dim_is(row, 0) &&
        (ig_dim_is(span.at, 0) ||
         ig_dim_constant(j->module, ig_dim_exact_div(j->module, span.at, row),
                         &first)) &&
        ig_dim_constant(j->module, ig_dim_exact_div(j->module, span.size, row),
                        &count) &&
        is_equal(j, ig_dim_mul(j->module, row, ig_dim_const(j->module, first)),
                 span.at) &&
        is_equal(j, ig_dim_mul(j->module, row, ig_dim_const(j->module, count)),
                 span.size);
    if (!has_rows || count > PARTS_MAX) {
        return append_span(j, spans, &span);
    }
    for (int64_t i = first; i < first + count; i++) {
        ig_jagged_span one = { span.list,
                               ig_dim_mul(j->module, row, ig_dim_const(j->module, i)),
                               row };
        one = ig_jagged_span_origin(j, one);
        if (!append_span(j, spans, &one)) {
            return false;
        }
    }
    return true;
}

bool ig_spans_begin_with(const ig_jagged *j, const ig_jagged_spans *b,
                         const ig_jagged_spans *a) {
    if (a->count > b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        const ig_jagged_span *x = &a->items[i], *y = &b->items[i];
        bool is_last = i + 1 == a->count;
        bool fits = is_last ? ig_dim_less_equal(j->module, x->size, y->size) == IG_YES
                            : is_equal(j, x->size, y->size);
        if (x->list != y->list || !is_equal(j, x->at, y->at) || !fits) {
            return false;
        }
    }
    return true;
}

bool ig_spans_equal(const ig_jagged *j, const ig_jagged_spans *a,
                    const ig_jagged_spans *b) {
    return ig_spans_begin_with(j, a, b) && ig_spans_begin_with(j, b, a);
}

/* ---- values that are sums ---- */

static bool is_sum_of_rows(const ig_op *reduce) {
    const ig_attr *axes = &reduce->attrs[IG_reduce_axes];
    return reduce->operand_count == 1 &&
           ig_attr_int(reduce, IG_reduce_op, 0) == IG_REDUCE_sum &&
           ig_op_operand(reduce, 0)->type->rank == 2 && axes->kind == IG_ATTR_INTS &&
           axes->count == 1 && (axes->as.ints[0] == 1 || axes->as.ints[0] == -1);
}

static bool is_offsets(const ig_op *cumsum) {
    return ig_op_operand(cumsum, 0)->type->rank == 1 &&
           ig_attr_int(cumsum, IG_cumsum_complete, 0) &&
           !ig_attr_int(cumsum, IG_cumsum_reverse, 0);
}

/* Element `at` of a list of sums. */
static bool read_element(const ig_jagged *j, const ig_value *list, ig_dim at,
                         ig_jagged_spans *out) {
    ig_op *reduce = ig_def(list, IG_OP_reduce), *offsets = ig_def(list, IG_OP_cumsum);
    if (reduce && is_sum_of_rows(reduce)) {
        ig_value *x = ig_op_operand(reduce, 0);
        ig_dim row = x->type->dims[1];
        return ig_spans_add(j, out,
                            (ig_jagged_span){ x, ig_dim_mul(j->module, at, row), row });
    }
    return offsets && is_offsets(offsets) &&
           ig_spans_add(
               j, out, (ig_jagged_span){ ig_op_operand(offsets, 0), ig_dim_of(0), at });
}

static bool is_whole_sum(const ig_op *reduce) {
    const ig_attr *axes = &reduce->attrs[IG_reduce_axes];
    return reduce->operand_count == 1 && ig_op_operand(reduce, 0)->type->rank == 1 &&
           ig_attr_int(reduce, IG_reduce_op, 0) == IG_REDUCE_sum &&
           (axes->kind != IG_ATTR_INTS || axes->count == 1);
}

/* At most `left` ops are visited, so recursion is no deeper. */
static bool read_sum(const ig_jagged *j, const ig_value *value, uint32_t *left,
                     ig_jagged_spans *out) {
    const ig_op *op = value->def;
    int64_t number;
    if (!op || *left == 0) {
        return false;
    }
    --*left;
    if (ig_constant_i64(value, &number)) {
        return number == 0;
    }
    if (op->code == IG_OP_add) {
        return read_sum(j, ig_op_operand(op, 0), left, out) &&
               read_sum(j, ig_op_operand(op, 1), left, out);
    }
    if (op->code == IG_OP_reshape || (op->code == IG_OP_cast && is_wider(op))) {
        return read_sum(j, ig_op_operand(op, 0), left, out);
    }
    if (op->code == IG_OP_slice && op->operand_count == 1 && value->type->rank == 1 &&
        ig_dim_is(value->type->dims[0], 1)) {
        return read_element(j, ig_op_operand(op, 0),
                            op->attrs[IG_slice_starts].as.dims[0], out);
    }
    if (op->code == IG_OP_reduce && is_whole_sum(op)) {
        ig_value *x = ig_op_operand(op, 0);
        return ig_spans_add(j, out,
                            (ig_jagged_span){ x, ig_dim_of(0), x->type->dims[0] });
    }
    return false;
}

/* ---- symbols ---- */

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void collect_binds(ig_jagged *j, const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        const ig_attr *symbols = op->code == IG_OP_bind ? &op->attrs[IG_bind_symbols]
                                                        : NULL;
        if (symbols && symbols->count == 1) {
            ig_bound_symbol bound = { .symbol = symbols->as.dims[0],
                                      .value = ig_op_operand(op, 0) };
            uint32_t left = SUM_OPS;
            bound.is_sum = read_sum(j, bound.value, &left, &bound.spans);
            IG_PUSH(j->arena, &j->bound, bound);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            collect_binds(j, op->bodies[i]);
        }
    }
}

void ig_jagged_open(ig_jagged *j, const ig_graph *graph, ig_arena *arena) {
    *j = (ig_jagged){ .module = graph->module, .arena = arena };
    collect_binds(j, &graph->body);
}

bool ig_jagged_position(const ig_jagged *j, ig_dim at, ig_dim count,
                        ig_jagged_spans *out) {
    *out = (ig_jagged_spans){ 0 };
    if (ig_dim_is(at, 0)) {
        return true;
    }
    for (size_t i = 0; i < j->bound.count; i++) {
        const ig_bound_symbol *b = &j->bound.items[i];
        bool is_here = ig_dim_same(b->symbol, at) ||
                       ig_dim_same(ig_dim_min(j->module, count, b->symbol), at);
        if (is_here && b->is_sum) {
            *out = b->spans;
            return true;
        }
    }
    return false;
}

bool ig_jagged_end(const ig_jagged *j, ig_dim at, ig_dim size, ig_dim count,
                   ig_jagged_spans *out) {
    *out = (ig_jagged_spans){ 0 };
    for (size_t i = 0; i < j->bound.count; i++) {
        const ig_bound_symbol *b = &j->bound.items[i];
        ig_dim end = ig_dim_min(j->module, count, b->symbol);
        ig_dim max = ig_dim_sub(j->module, end, at);
        bool is_here = b->is_sum &&
                       (ig_dim_same(max, size) ||
                        ig_dim_same(ig_dim_max(j->module, ig_dim_of(0), max), size) ||
                        (ig_dim_is(at, 0) && ig_dim_same(b->symbol, size)));
        if (is_here) {
            *out = b->spans;
            return true;
        }
    }
    return false;
}
