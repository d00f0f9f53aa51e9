/* Embedding bags on CPUs: reading the bag op's operands and attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/bag/bag.h"

#include <assert.h>

static int64_t read_entry(const ig_op *op, uint32_t slot, uint32_t index,
                          int64_t absent) {
    const ig_attr *attr = &op->attrs[slot];
    return attr->kind == IG_ATTR_INTS ? attr->as.ints[index] : absent;
}

bool bag_is_table(const bag_feature *f) {
    return f->table->type->kind == IG_TABLE;
}

static bool read_layout(const bag_feature *f, ig_row_layout *out_layout) {
    unsigned bits = ig_dtypes[f->table->type->dtype].bits;
    return ig_row_layout_of(f->table->type->rows, bits, f->dim, out_layout);
}

/* From one row to the next. */
static int64_t row_bytes(const bag_feature *f) {
    ig_row_layout layout = { 0 };
    return read_layout(f, &layout) ? layout.stride : 0;
}

static bool is_large(const ig_lower *lower, const bag_feature *f) {
    int64_t rows = 0;
    bool is_known = ig_dim_constant(lower->module, f->all_rows, &rows);
    int64_t bytes = row_bytes(f);
    return !is_known ||
           rows > (int64_t)lower->target->l2_bytes / 2 / (bytes ? bytes : 1);
}

static ig_dim count_bags(ig_lower *lower, const bag_feature *f) {
    if (f->pool == IG_POOL_none) {
        return ig_type_count(lower->module, f->ids->type);
    }
    if (!f->begins) {
        return f->ids->type->dims[0];
    }
    ig_dim begins = f->begins->type->dims[0];
    bool has_last = f->last != IG_LAST_ids;
    return has_last ? ig_dim_sub(lower->module, begins, ig_dim_of(1)) : begins;
}

/* Without pooling the bags are the ids, walked through as one dim. */
static bool is_flat(ig_lower *lower, const ig_lower_operand *x, uint32_t rank) {
    for (uint32_t d = 0; d + 1 < rank; d++) {
        ig_dim step = ig_dim_mul(lower->module, x->strides[d + 1],
                                 x->type->dims[d + 1]);
        if (ig_dim_equal(lower->module, x->strides[d], step) != IG_YES) {
            return false;
        }
    }
    return true;
}

static ig_status check_feature(ig_lower *lower, const bag_feature *f) {
    bool has_operands = f->table && f->ids &&
                        (!(f->mask & IG_BAG_BEGINS) || f->begins) &&
                        (!(f->mask & IG_BAG_ENDS) || f->ends) &&
                        (!(f->mask & IG_BAG_WEIGHTS) || f->weights);
    if (!has_operands || f->dim <= 0) {
        return ig_lower_unsupported(lower, "a bag whose rows' length is not known");
    }
    uint32_t rank = f->ids->type->rank;
    bool is_none = f->pool == IG_POOL_none;
    if (is_none && !(is_flat(lower, f->ids, rank) && is_flat(lower, f->out, rank))) {
        return ig_lower_unsupported(lower, "a look-up of ids with gaps in memory");
    }
    return IG_OK;
}

/* Tables, from operand `operand` on. */
static bool read_tables(ig_lower *lower, const ig_op *anchor, uint32_t operand,
                        bag_feature *f) {
    f->rows = IG_NEW_ARRAY(lower->arena, ig_dim, f->tables);
    f->table = ig_lower_input(lower, anchor, operand);
    for (uint32_t i = 0; i < f->tables; i++) {
        const ig_lower_operand *table = ig_lower_input(lower, anchor, operand + i);
        if (!table || ig_dim_equal(lower->module, table->type->dims[1],
                                   f->table->type->dims[1]) != IG_YES) {
            return false;
        }
        f->rows[i] = table->type->dims[0];
        f->all_rows = ig_dim_add(lower->module, f->all_rows, f->rows[i]);
    }
    return true;
}

static void read_offset_fields(ig_lower *lower, bag_feature *f) {
    ig_dim count = f->begins->type->dims[0];
    bool has_last = f->last != IG_LAST_ids;
    f->fields[BAG_begin_stride] = f->begins->strides[0];
    f->fields[BAG_begin_count] = count;
    f->fields[BAG_window_bags] = has_last
                                     ? ig_dim_sub(lower->module, count, ig_dim_of(1))
                                     : count;
    if (f->ends) {
        f->fields[BAG_end_stride] = f->ends->strides[0];
    }
}

static void read_fields(ig_lower *lower, bag_feature *f) {
    ig_dim *to = f->fields;
    uint32_t last = f->ids->type->rank - 1;
    bool is_none = f->pool == IG_POOL_none;
    assert(f->out->type->rank >= 2 && "a result has bags and columns");
    to[BAG_rows] = f->rows[0];
    to[BAG_bags] = count_bags(lower, f);
    to[BAG_id_count] = ig_type_count(lower->module, f->ids->type);
    to[BAG_id_stride] = f->ids->strides[last];
    to[BAG_bag_stride] = f->ids->strides[is_none ? last : 0];
    to[BAG_length] = is_none ? ig_dim_of(1) : f->ids->type->dims[last];
    to[BAG_out_stride] = f->out->strides[f->out->type->rank - 2];
    if (f->has_padding) {
        to[BAG_padding] = ig_dim_const(lower->module, f->padding);
    }
    if (f->weights) {
        to[BAG_weight_stride] = f->weights->strides[f->weights->type->rank - 1];
        to[BAG_weight_bag_stride] = f->weights->strides[0];
    }
    if (f->begins) {
        read_offset_fields(lower, f);
    }
}

static ig_status read_feature(ig_lower *lower, const ig_op *anchor, uint32_t index,
                              uint32_t operand, bag_feature *f) {
    f->mask = read_entry(anchor, IG_bag_operands, index, 0);
    f->pool = (ig_pool)read_entry(anchor, IG_bag_pool, index, IG_POOL_sum);
    f->padding = read_entry(anchor, IG_bag_padding, index, INT64_MIN);
    f->has_padding = f->padding != INT64_MIN;
    f->last = (ig_bag_last)read_entry(anchor, IG_bag_last, index, IG_LAST_ids);
    f->empty = (ig_empty)read_entry(anchor, IG_bag_empty, index, IG_EMPTY_zero);
    f->tables = (uint32_t)read_entry(anchor, IG_bag_tables, index, 1);
    uint32_t next = operand;
    bool has_tables = read_tables(lower, anchor, operand, f);
    next += f->tables;
    f->ids_operand = next;
    f->ids = ig_lower_input(lower, anchor, next++);
    f->begins_operand = next;
    f->begins = f->mask & IG_BAG_BEGINS ? ig_lower_input(lower, anchor, next++) : NULL;
    f->ends = f->mask & IG_BAG_ENDS ? ig_lower_input(lower, anchor, next++) : NULL;
    f->weights = f->mask & IG_BAG_WEIGHTS ? ig_lower_input(lower, anchor, next++)
                                          : NULL;
    f->operand_count = next - operand;
    f->out = &lower->outs[index];
    if (!has_tables ||
        !ig_dim_constant(lower->module, f->table->type->dims[1], &f->dim)) {
        f->dim = 0;
    }
    IG_TRY(check_feature(lower, f));
    f->is_large = is_large(lower, f);
    read_fields(lower, f);
    return IG_OK;
}

ig_status bag_read_features(ig_lower *lower, const ig_op *anchor,
                            bag_feature *features) {
    uint32_t operand = 0;
    for (uint32_t i = 0; i < anchor->result_count; i++) {
        IG_TRY(read_feature(lower, anchor, i, operand, &features[i]));
        operand += features[i].operand_count;
    }
    return IG_OK;
}

/* f32, in which all but f64 tables are summed; rows of integers are copied. */
ig_dtype bag_sum_dtype(const bag_class *c) {
    const ig_type *table = c->features[0].table->type;
    bool has_codes = ig_rows_formats[table->rows.format].side ||
                     table->rows.exponent_bits;
    bool is_kept = table->dtype == IG_DT_f64 ||
                   !ig_dtype_is_float((ig_dtype)table->dtype);
    return is_kept && !has_codes ? (ig_dtype)table->dtype : IG_DT_f32;
}

ig_status bag_choose_lanes(bag_class *c) {
    const bag_feature *f = &c->features[0];
    unsigned bits = ig_dtypes[f->table->type->dtype].bits;
    ig_dtype dtype = bag_sum_dtype(c);
    if (!read_layout(f, &c->layout) || (bits < 8 && !bag_is_table(f))) {
        return ig_lower_unsupported(c->lower, "a bag over a matrix of packed numbers");
    }
    if (!ig_dtype_is_float(dtype) && (f->pool != IG_POOL_none || f->weights)) {
        return ig_lower_unsupported(c->lower, "a bag over a table of integers");
    }
    bool has_threads = c->lower->target->has_threads;
    c->lanes = has_threads ? bag_thread_lanes(c) : ig_lower_lanes(c->lower, dtype);
    c->parts = bits < 8 && c->lanes > 1 ? 8 / bits : 1;
    return IG_OK;
}
