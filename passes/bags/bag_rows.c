/* Rows of an embedding table: the content of a value of shape [n, D].
 * SPDX-License-Identifier: Apache-2.0
 *
 * Old exporters cut the ids and then look them up, newer ones look all of them up and
 * cut the rows, weights are cut or not, and when there are none they are ones that were
 * expanded.  All of that is read as one thing: rows of a table at positions of ids.
 */
#include "passes/bags/bag_rows.h"

#include <string.h>

enum { DEPTH_MAX = 48, FILL_MAX = 1 << 16 };

/* ---- constants ---- */

static bool is_filled_data(const ig_data *data, double number) {
    int64_t count = 1;
    for (uint32_t d = 0; d < data->type->rank; d++) {
        int64_t extent = ig_dim_value(data->type->dims[d]);
        count = extent > FILL_MAX ? FILL_MAX + 1 : count * extent;
        if (count > FILL_MAX && !data->is_splat) {
            return false;
        }
    }
    bool is_readable = data->bytes && data->type->kind == IG_TENSOR &&
                       ig_dtypes[data->type->dtype].class != IG_STRING;
    count = data->is_splat ? 1 : count;
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count,
                         .data = (void *)(uintptr_t)data->bytes }; /* only read */
    for (int64_t i = 0; is_readable && i < count; i++) {
        is_readable = ig_tensor_get_f64(&tensor, i) == number;
    }
    return is_readable;
}

bool ig_value_is_filled(ig_value *value, double number) {
    for (uint32_t depth = 0; value->def && depth < DEPTH_MAX; depth++) {
        const ig_op *op = value->def;
        bool is_view = op->code == IG_OP_reshape || op->code == IG_OP_expand ||
                       op->code == IG_OP_cast || op->code == IG_OP_slice ||
                       op->code == IG_OP_transpose;
        if (!is_view) {
            break;
        }
        value = op->operands[0].value;
    }
    const ig_data *data = ig_constant_of(value);
    return data && is_filled_data(data, number);
}

/* ---- vectors ---- */

static bool is_vector(const ig_value *value) {
    return value->type->kind == IG_TENSOR && value->type->rank == 1;
}

static bool is_int(const ig_value *value) {
    return ig_dtype_is_int((ig_dtype)value->type->dtype);
}

static bool keeps_numbers(const ig_op *cast) {
    const ig_type *from = cast->operands[0].value->type, *to = cast->results[0].type;
    if (from->dtype == to->dtype) {
        return true;
    }
    return ig_dtype_is_int((ig_dtype)from->dtype) &&
           ig_dtype_is_int((ig_dtype)to->dtype) &&
           ig_dtypes[to->dtype].bits >= ig_dtypes[from->dtype].bits;
}

ig_value *ig_vector_origin(ig_value *value) {
    for (const ig_op *op = value->def; op && is_vector(value); op = value->def) {
        bool is_same = (op->code == IG_OP_reshape &&
                        is_vector(op->operands[0].value)) ||
                       (op->code == IG_OP_cast && keeps_numbers(op));
        if (!is_same) {
            break;
        }
        value = op->operands[0].value;
    }
    return value;
}

/* ---- cuts along the first axis ---- */

static bool is_whole_but_first(const ig_module *module, const ig_op *slice) {
    const ig_type *type = slice->operands[0].value->type;
    const ig_dim *starts = slice->attrs[IG_slice_starts].as.dims;
    const ig_dim *sizes = slice->attrs[IG_slice_sizes].as.dims;
    const ig_attr *steps = &slice->attrs[IG_slice_steps];
    for (uint32_t d = 0; d < type->rank; d++) {
        bool is_step = steps->kind == IG_ATTR_INTS && steps->as.ints[d] != 1;
        bool is_whole = ig_dim_is(starts[d], 0) &&
                        ig_dim_equal(module, sizes[d], type->dims[d]) == IG_YES;
        if (is_step || (d > 0 && !is_whole)) {
            return false;
        }
    }
    return type->rank > 0;
}

static bool read_ends(const ig_trips *t, const ig_number *begin, const ig_number *end,
                      ig_positions *out) {
    *out = (ig_positions){ .is_cut = true, .padding = IG_NO_PADDING };
    return ig_trips_bound(t, begin, &out->begin) && ig_trips_bound(t, end, &out->end);
}

static bool is_known_or_absent(const ig_op *op, uint32_t operand, int64_t expected) {
    ig_dims_value known;
    int64_t number;
    if (operand >= op->operand_count) {
        return true;
    }
    return ig_value_dims(op->operands[operand].value, &known) && known.count == 1 &&
           ig_dim_constant(ig_op_module(op), known.dims[0], &number) &&
           number == expected;
}

/* Positions of x[begin : end]. */
static bool read_cut(const ig_trips *t, const ig_op *slice, ig_positions *out) {
    ig_number begin = { 0 }, end = { 0 };
    int64_t rank = slice->operands[0].value->type->rank;
    if (ig_attr_is_set(slice, IG_slice_sizes)) {
        begin.base = slice->attrs[IG_slice_starts].as.dims[0];
        end.base = ig_dim_add(t->module, begin.base,
                              slice->attrs[IG_slice_sizes].as.dims[0]);
        return is_whole_but_first(t->module, slice) &&
               ig_recogniser_sees(t->r, t->scope, begin.base) &&
               ig_recogniser_sees(t->r, t->scope, end.base) &&
               read_ends(t, &begin, &end, out);
    }
    bool is_first = is_known_or_absent(slice, 3, 0) ||
                    is_known_or_absent(slice, 3, -rank);
    return is_first && is_known_or_absent(slice, 4, 1) &&
           ig_trips_number(t, slice->operands[1].value, &begin) &&
           ig_trips_number(t, slice->operands[2].value, &end) &&
           read_ends(t, &begin, &end, out);
}

bool ig_positions_equal(const ig_trips *t, const ig_positions *a,
                        const ig_positions *b) {
    if (a->is_cut != b->is_cut || a->padding != b->padding) {
        return false;
    }
    return !a->is_cut || (ig_bound_equal(t, &a->begin, &b->begin) &&
                          ig_bound_equal(t, &a->end, &b->end));
}

/* A vector from outside, or a cut of one.  A vector that was cut before the loop is
 * whole to it. */
static bool read_vector(const ig_trips *t, ig_value *value, ig_value **out_vector,
                        ig_positions *out) {
    value = ig_vector_origin(value);
    *out = (ig_positions){ .padding = IG_NO_PADDING };
    bool is_given = t->body && ig_trips_is_outside(t, value);
    const ig_op *slice = is_given ? NULL : ig_def(value, IG_OP_slice);
    if (slice && is_vector(value) && read_cut(t, slice, out)) {
        out->cut = value;
        value = ig_vector_origin(slice->operands[0].value);
    }
    *out_vector = value;
    return is_vector(value) && ig_trips_is_outside(t, value);
}

/* The same, or a value from outside of any rank as the list of its elements. */
static bool read_list(const ig_trips *t, ig_value *value, ig_value **out_list,
                      ig_positions *out) {
    *out = (ig_positions){ .padding = IG_NO_PADDING };
    *out_list = value;
    return is_vector(value) ? read_vector(t, value, out_list, out)
                            : ig_trips_is_outside(t, value);
}

/* ---- weights: [n, 1] ---- */

typedef struct column {
    ig_value *weights; /* NULL: ones */
    ig_positions at;
} column;

static bool read_column(const ig_trips *t, ig_value *value, column *out) {
    const ig_type *type = value->type;
    if (type->rank != 2 || !ig_dim_is(type->dims[1], 1) || !value->def) {
        return false;
    }
    *out = (column){ .at = { .padding = IG_NO_PADDING } };
    if (ig_value_is_filled(value, 1)) {
        return true;
    }
    const ig_op *slice = ig_def(value, IG_OP_slice);
    ig_positions at;
    bool is_cut = slice && read_cut(t, slice, &at);
    value = is_cut ? slice->operands[0].value : value;
    const ig_op *reshape = ig_def(value, IG_OP_reshape);
    if (!reshape ||
        !read_list(t, reshape->operands[0].value, &out->weights, &out->at)) {
        return false;
    }
    bool is_cut_twice = is_cut && out->at.is_cut;
    out->at = is_cut ? at : out->at;
    return !is_cut_twice && ig_dtype_is_float((ig_dtype)out->weights->type->dtype);
}

/* ---- rows ---- */

typedef bool (*rows_fn)(const ig_trips *t, const ig_op *op, uint32_t depth,
                        ig_bag_rows *out);

static bool read_rows(const ig_trips *t, ig_value *value, uint32_t depth,
                      ig_bag_rows *out);

static bool rows_of_operand(const ig_trips *t, const ig_op *op, uint32_t depth,
                            ig_bag_rows *out) {
    return read_rows(t, op->operands[0].value, depth + 1, out);
}

static bool rows_of_cast(const ig_trips *t, const ig_op *op, uint32_t depth,
                         ig_bag_rows *out) {
    return keeps_numbers(op) && rows_of_operand(t, op, depth, out);
}

static bool rows_of_reshape(const ig_trips *t, const ig_op *op, uint32_t depth,
                            ig_bag_rows *out) {
    const ig_type *from = op->operands[0].value->type, *to = op->results[0].type;
    return from->rank == 2 && to->rank == 2 &&
           ig_dim_equal(t->module, from->dims[1], to->dims[1]) == IG_YES &&
           rows_of_operand(t, op, depth, out);
}

static bool cut_rows(const ig_positions *at, ig_bag_rows *out) {
    bool is_whole = !out->at.is_cut;
    out->at = *at;
    return is_whole;
}

static bool rows_of_slice(const ig_trips *t, const ig_op *op, uint32_t depth,
                          ig_bag_rows *out) {
    ig_positions at;
    return read_cut(t, op, &at) && rows_of_operand(t, op, depth, out) &&
           cut_rows(&at, out);
}

/* Computed values may have gaps in memory, which bags do not read. */
bool ig_value_is_table(const ig_value *value) {
    const ig_type *type = value->type;
    bool is_stored = value->def ? ig_ops[value->def->code].traits & IG_CONSTANT
                                : value->block->parent == NULL;
    int64_t width;
    return is_stored && type->kind == IG_TENSOR && type->rank == 2 &&
           ig_dtype_is_float((ig_dtype)type->dtype) &&
           ig_dim_known(type->dims[1], &width) && width > 0;
}

/* Rows at the positions that another loop kept. */
static bool rows_of_kept(const ig_trips *t, const ig_op *gather, const ig_kept *kept,
                         uint32_t depth, ig_bag_rows *out) {
    return read_rows(t, gather->operands[0].value, depth + 1, out) &&
           out->ids == kept->ids && cut_rows(&kept->at, out) &&
           ig_dim_equal(t->module, out->table->type->dims[0], kept->rows) == IG_YES;
}

/* A look-up in the table. */
static bool rows_of_gather(const ig_trips *t, const ig_op *op, uint32_t depth,
                           ig_bag_rows *out) {
    ig_value *x = op->operands[0].value, *index = op->operands[1].value;
    ig_kept kept;
    if (ig_attr_int(op, IG_gather_axis, 0) != 0 ||
        ig_attr_int(op, IG_gather_negative, IG_NEGATIVE_wrap) != IG_NEGATIVE_wrap) {
        return false;
    }
    if (ig_kept_positions(t, index, &kept)) {
        return rows_of_kept(t, op, &kept, depth, out);
    }
    *out = (ig_bag_rows){ .table = x };
    return ig_value_is_table(x) && is_int(index) &&
           read_vector(t, index, &out->ids, &out->at);
}

static bool weigh_rows(const ig_trips *t, const column *weights, ig_bag_rows *out) {
    if (!weights->weights) {
        return true; /* ones */
    }
    bool is_first = !out->weights;
    out->weights = weights->weights;
    out->weights_cut = weights->at.cut;
    return is_first && ig_positions_equal(t, &weights->at, &out->at);
}

static bool rows_of_mul(const ig_trips *t, const ig_op *op, uint32_t depth,
                        ig_bag_rows *out) {
    for (uint32_t i = 0; i < 2; i++) {
        column weights;
        if (read_column(t, op->operands[1 - i].value, &weights) &&
            read_rows(t, op->operands[i].value, depth + 1, out) &&
            weigh_rows(t, &weights, out)) {
            return true;
        }
    }
    return false;
}

bool ig_bag_rows_share(const ig_bag_rows *a, const ig_bag_rows *b) {
    return a->table == b->table && a->ids == b->ids && a->weights == b->weights;
}

/* An if that gives the last trip other positions. */
static bool rows_of_if(const ig_trips *t, const ig_op *op, uint32_t depth,
                       ig_bag_rows *out) {
    ig_trip_test test = ig_trip_test_read(t, op->operands[0].value);
    ig_value *yes, *no;
    ig_bag_rows last;
    if (op->result_count != 1) {
        return false;
    }
    ig_trip_test_branches(&test, op, 0, &yes, &no);
    if (test.kind == IG_TRIP_TEST_NONE) {
        return read_rows(t, yes, depth + 1, out);
    }
    if (test.kind != IG_TRIP_TEST_LAST || !read_rows(t, yes, depth + 1, &last) ||
        !read_rows(t, no, depth + 1, out) || !ig_bag_rows_share(&last, out)) {
        return false;
    }
    bool is_mixed = !last.at.is_cut || !out->at.is_cut ||
                    last.at.padding != out->at.padding ||
                    !ig_bound_equal(t, &last.at.begin, &out->at.begin);
    out->at.end.last = ig_bound_at_last(t, &last.at.end);
    out->at.end.has_last = true;
    out->at.end.given = (ig_number){ 0 };
    return !is_mixed;
}

static const rows_fn readers[IG_OP_COUNT] = {
    [IG_OP_cast] = rows_of_cast,   [IG_OP_reshape] = rows_of_reshape,
    [IG_OP_slice] = rows_of_slice, [IG_OP_gather] = rows_of_gather,
    [IG_OP_mul] = rows_of_mul,     [IG_OP_if] = rows_of_if,
};

static bool read_rows(const ig_trips *t, ig_value *value, uint32_t depth,
                      ig_bag_rows *out) {
    const ig_op *op = value->def;
    return op && depth < DEPTH_MAX && value->type->rank == 2 && ig_trips_visit(t) &&
           readers[op->code] && readers[op->code](t, op, depth, out);
}

bool ig_bag_rows_read(const ig_trips *t, ig_value *value, ig_bag_rows *out) {
    return read_rows(t, value, 0, out);
}
