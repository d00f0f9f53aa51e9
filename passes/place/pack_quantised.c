/* Weights of 8-bit integers with scales, as exporters write them, for `pack`.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = cast @w {to = f32}          or {to = i32}, or not before the subtraction
 *     %1 = sub %0, @zero               a number, or one for each column
 *     %2 = mul %1, @scale              a number, or one for each row or column
 *
 * with transposes and casts anywhere between.  Zero points must be whole numbers of the
 * weight's type, so that the difference is exact wherever it is taken; one for each row
 * is left alone: it belongs to no column of the product.
 */
#include "passes/place/pack.h"

#include "ir/interpret/interpret.h"
#include "ir/semantics/panels.h"
#include "base/silence.h"

#include <string.h>

enum { MOST_STEPS = 16 };

typedef struct reader {
    const ig_pass_run *run;
    ig_pack_matrix *out;
    ig_value *zero;
    bool is_whole; /* below the scales: whole numbers only */
} reader;

static bool is_byte(const ig_value *value) {
    ig_dtype dtype = (ig_dtype)value->type->dtype;
    return dtype == IG_DT_i8 || dtype == IG_DT_u8;
}

bool ig_pack_swaps_two(const ig_op *op) {
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    return op->code == IG_OP_transpose && perm->count == 2 && perm->as.ints[0] == 1;
}

/* The one axis of `matrix` along which `x` has many numbers; rank: a single number. */
static bool find_axis(const ig_value *x, const ig_value *matrix, uint32_t *out_axis) {
    uint32_t rank = matrix->type->rank, own = x->type->rank;
    *out_axis = rank;
    for (uint32_t d = 0; own <= rank && d < own; d++) {
        if (ig_dim_is(x->type->dims[d], 1)) {
            continue;
        }
        if (*out_axis != rank ||
            !ig_dim_same(x->type->dims[d], matrix->type->dims[rank - own + d])) {
            return false;
        }
        *out_axis = rank - own + d;
    }
    return own <= rank;
}

/* Is that axis K?  Else it is N. */
static bool is_depth(const reader *r, uint32_t axis) {
    return axis == (r->out->is_transposed ? 1 : 0);
}

/* value = x * scale, either way round; x, or NULL. */
static ig_value *take_scale(reader *r, const ig_op *op) {
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *x = op->operands[i].value, *scale = op->operands[1 - i].value;
        uint32_t axis = 0;
        if (x->type != op->results->type || !find_axis(scale, x, &axis)) {
            continue;
        }
        bool is_row = axis < 2 && is_depth(r, axis);
        ig_value **place = is_row ? &r->out->row_scale : &r->out->scale;
        if (*place) {
            return NULL;
        }
        *place = scale;
        return x;
    }
    return NULL;
}

static ig_value *take_zero(reader *r, const ig_op *op) {
    ig_value *x = op->operands[0].value, *zero = op->operands[1].value;
    uint32_t axis = 0;
    bool is_taken = r->zero || is_byte(x) || x->type != op->results->type;
    if (is_taken || !find_axis(zero, x, &axis) || (axis < 2 && is_depth(r, axis))) {
        return NULL;
    }
    r->zero = zero;
    r->is_whole = true;
    return x;
}

/* Casts that lose nothing of a difference of two bytes. */
static ig_value *take_cast(reader *r, const ig_op *op) {
    ig_value *x = op->operands[0].value;
    ig_dtype to = (ig_dtype)op->results->type->dtype;
    ig_dtype from = (ig_dtype)x->type->dtype;
    bool is_wide = to == IG_DT_f32 || to == IG_DT_f64 || to == IG_DT_i16 ||
                   to == IG_DT_i32 || to == IG_DT_i64;
    bool is_source = is_byte(x) || from == IG_DT_i16 || from == IG_DT_i32 ||
                     from == IG_DT_i64;
    r->is_whole = true;
    return is_wide && is_source ? x : NULL;
}

static ig_value *step(reader *r, const ig_op *op) {
    if (ig_pack_swaps_two(op)) {
        r->out->is_transposed = !r->out->is_transposed;
        return op->operands[0].value;
    }
    if (op->code == IG_OP_mul && !r->is_whole) {
        return take_scale(r, op);
    }
    if (op->code == IG_OP_sub) {
        return take_zero(r, op);
    }
    return op->code == IG_OP_cast ? take_cast(r, op) : NULL;
}

/* ---- zero points ---- */

static bool read_constant(const reader *r, const ig_value *value, ig_tensor *out) {
    const ig_data *data = ig_constant_of(value);
    if (!data || !ig_type_is_static(value->type)) {
        return false;
    }
    ig_context *context = ig_op_module(value->def)->context;
    ig_silence silence = ig_silence_begin(context);
    ig_status status = ig_tensor_of_data(data, r->run->scratch, context, out);
    ig_silence_end(&silence);
    return status == IG_OK && (out->count == 1 || out->count == r->out->n);
}

/* The zero points of whole panels; beyond N they are 0.  None when all of them are. */
static bool read_zeros(reader *r, ig_dtype dtype) {
    ig_pack_matrix *m = r->out;
    ig_tensor zeros;
    if (!r->zero) {
        return true;
    }
    if (!read_constant(r, r->zero, &zeros)) {
        return false;
    }
    double low = dtype == IG_DT_i8 ? -128 : 0;
    int64_t room = (m->n + IG_PANEL - 1) / IG_PANEL * IG_PANEL;
    uint8_t *bytes = IG_NEW_ARRAY(r->run->scratch, uint8_t, (size_t)room);
    bool is_any = false;
    for (int64_t i = 0; i < m->n; i++) {
        double zero = ig_tensor_get_f64(&zeros, zeros.count == 1 ? 0 : i);
        if (!(zero >= low && zero <= low + 255) || zero != (double)(int)zero) {
            return false;
        }
        bytes[i] = (uint8_t)(int)zero;
        is_any |= bytes[i] != 0;
    }
    m->zeros = is_any ? bytes : NULL;
    return true;
}

bool ig_pack_read_quantised(const ig_pass_run *run, ig_value *value,
                            ig_pack_matrix *out) {
    reader r = { .run = run, .out = out };
    const ig_op *def = value->def;
    if (value->type->rank != 2 || value->type->dtype != IG_DT_f32) {
        return false;
    }
    for (uint32_t i = 0; def && def->code != IG_OP_weight && i < MOST_STEPS; i++) {
        ig_value *below = step(&r, def);
        def = below ? below->def : NULL;
    }
    return def && def->code == IG_OP_weight && is_byte(def->results) &&
           ig_pack_take_weight(def, out) &&
           read_zeros(&r, (ig_dtype)def->results->type->dtype);
}
