/* Normalisations: arguments of the rows and formulas in compose/norm.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/norm.h"

#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <float.h>
#include <string.h>

static ig_norm read_norm(ig_ts_call *call, uint32_t weight_arg) {
    return (ig_norm){ .scale = ig_aten_optional(call, weight_arg),
                      .bias = ig_aten_optional(call, weight_arg + 1) };
}

static ig_status give_three(ig_ts_call *call, ig_value *value, ig_value *second,
                            ig_value *third) {
    IG_TRY(ig_aten_give2(call, value, second));
    return ig_ts_give(call, 2, third);
}

/* ---- batch norm ---- */

/* The forms of the row.  After (input, weight, bias) come running_mean and running_var
 * where there are any, training where it is asked, momentum and eps. */
typedef struct batch_form {
    uint32_t training; /* argument; 0: as `trains` says */
    uint32_t momentum; /* argument; eps follows */
    uint32_t results;  /* the value; mean and 1 / deviation; torch's scratch space */
    bool trains, has_running;
    bool gives_running; /* as further results, instead of writing them */
} batch_form;

static const batch_form batch_forms[] = {
    [IG_ATEN_BATCH_NORM] = { .training = 5,
                             .momentum = 6,
                             .results = 1,
                             .has_running = true },
    [IG_ATEN_BATCH_NATIVE] = { .training = 5,
                               .momentum = 6,
                               .results = 3,
                               .has_running = true },
    [IG_ATEN_BATCH_RUNNING] = { .momentum = 5, .results = 3, .has_running = true },
    [IG_ATEN_BATCH_UPDATE] = { .momentum = 5,
                               .results = 4,
                               .trains = true,
                               .has_running = true },
    [IG_ATEN_BATCH_OWN] = { .training = 3, .momentum = 4, .results = 3 },
    [IG_ATEN_BATCH_FUNCTIONAL] = { .training = 5,
                                   .momentum = 6,
                                   .results = 3,
                                   .has_running = true,
                                   .gives_running = true },
    [IG_ATEN_BATCH_UPDATE_FUNCTIONAL] = { .momentum = 5,
                                          .results = 4,
                                          .trains = true,
                                          .has_running = true,
                                          .gives_running = true },
};

typedef struct statistics {
    ig_value *mean, *variance; /* that are applied */
    ig_value *running[2];      /* mean and variance; NULL: none */
} statistics;

/* running = (1 - momentum) running + momentum * new, where there is one to keep. */
static void blend_running(ig_ts_call *call, statistics *s, ig_value *const fresh[2],
                          double momentum) {
    for (int i = 0; i < 2; i++) {
        if (s->running[i] && fresh[i] && momentum != 0) {
            s->running[i] = ig_compose_blend(call->e, s->running[i], fresh[i],
                                             momentum);
        }
    }
}

/* The variance that running statistics take, which is unbiased. */
static ig_value *take_unbiased(ig_expr *e, const ig_value *x, ig_value *variance) {
    if (e->status != IG_OK) {
        return NULL;
    }
    ig_dim one = ig_dim_of(1), count = ig_type_count(e->module, x->type);
    count = ig_dim_exact_div(e->module, count, ig_expr_extent(e, x, 1));
    ig_dim less = ig_dim_max(e->module, ig_dim_sub(e->module, count, one), one);
    ig_dtype dtype = (ig_dtype)variance->type->dtype;
    variance = ig_build_mul(e, variance, ig_expr_dim(e, count, dtype));
    return ig_build_div(e, variance, ig_expr_dim(e, less, dtype));
}

/* The statistics of this batch. */
static void train_statistics(ig_ts_call *call, ig_value *x, double momentum,
                             statistics *s) {
    ig_compose_batch_moments(call->e, x, &s->mean, &s->variance);
    ig_value *fresh[] = { s->mean, take_unbiased(call->e, x, s->variance) };
    blend_running(call, s, fresh, momentum);
}

static ig_status read_running(ig_ts_call *call, statistics *s) {
    s->mean = s->running[0];
    s->variance = s->running[1];
    if (call->e->status == IG_OK && (!s->mean || !s->variance)) {
        return ig_ts_fail(call, IG_INVALID, "no running statistics to apply");
    }
    return call->e->status;
}

/* Written to the arguments, or given after the form's other results. */
static ig_status keep_running(ig_ts_call *call, const batch_form *form, bool trains,
                              const statistics *s) {
    for (uint32_t i = 0; i < 2 && call->e->status == IG_OK; i++) {
        if (s->running[i] && form->gives_running) {
            IG_TRY(ig_ts_give(call, form->results + i, s->running[i]));
        } else if (s->running[i] && trains) {
            IG_TRY(ig_ts_write(call, 3 + i, s->running[i]));
        }
    }
    return call->e->status;
}

/* native_batch_norm's further results: mean and 1 / deviation of a training batch. */
static ig_status give_statistics(ig_ts_call *call, ig_value *y, const statistics *s,
                                 double epsilon) {
    ig_expr *e = call->e;
    ig_value *scale = ig_expr_with(e, IG_OP_add, s->variance, epsilon);
    scale = ig_expr_like(e, ig_build_rsqrt(e, scale), y);
    return give_three(call, y, ig_expr_like(e, s->mean, y), scale);
}

static ig_status give_no_statistics(ig_ts_call *call, ig_value *x, ig_value *y) {
    ig_dim zero = ig_dim_of(0);
    bool is_narrow = ig_dtypes[x->type->dtype].bits < 32;
    ig_dtype dtype = is_narrow ? IG_DT_f32 : (ig_dtype)x->type->dtype;
    ig_value *empty = ig_expr_fill(call->e, dtype, 1, &zero, 0);
    return give_three(call, y, empty, empty);
}

/* variant: IG_ATEN_BATCH_* */
ig_status ig_ts_op_batch_norm(ig_ts_call *call) {
    const batch_form *form = &batch_forms[call->row->variant];
    bool trains = form->training ? ig_aten_bool(call, form->training) : form->trains;
    ig_value *x = ig_aten_tensor(call, 0);
    ig_norm norm = read_norm(call, 1);
    statistics s = { 0 };
    for (uint32_t i = 0; form->has_running && i < 2; i++) {
        s.running[i] = ig_aten_optional(call, 3 + i);
    }
    double momentum = ig_aten_float_or(call, form->momentum, 0);
    norm.epsilon = ig_aten_float(call, form->momentum + 1);
    IG_TRY(call->e->status);
    if (trains) {
        train_statistics(call, x, momentum, &s);
    } else {
        IG_TRY(read_running(call, &s));
    }
    ig_value *y = ig_compose_batch_norm(call->e, x, &norm, s.mean, s.variance);
    IG_TRY(call->e->status);
    IG_TRY(keep_running(call, form, trains && momentum != 0, &s));
    if (form->results == 1) {
        return ig_aten_give(call, y);
    }
    if (form->results == 4) {
        ig_dim zero = ig_dim_of(0);
        IG_TRY(ig_ts_give(call, 3, ig_expr_fill(call->e, IG_DT_u8, 1, &zero, 0)));
    }
    return trains ? give_statistics(call, y, &s, norm.epsilon)
                  : give_no_statistics(call, x, y);
}

/* ---- layer norm ---- */

/* The axis from which normalized_shape (argument 1) counts; false: it does not fit. */
static bool read_normalized(ig_ts_call *call, const ig_value *x, uint32_t *out_axis) {
    uint32_t count;
    const ig_dim *shape = ig_aten_dims(call, 1, 0, &count);
    if (!x || call->e->status != IG_OK) {
        return false;
    }
    if (count == 0 || count > x->type->rank) {
        ig_expr_fail(call->e, IG_INVALID, "normalized_shape has %u axes, the input %u",
                     count, x->type->rank);
        return false;
    }
    *out_axis = x->type->rank - count;
    for (uint32_t i = 0; i < count; i++) {
        ig_expr_guard_equal(call->e, shape[i],
                            ig_expr_extent(call->e, x, *out_axis + i),
                            "normalized_shape must be the last extents");
    }
    return call->e->status == IG_OK;
}

/* layer_norm(input, normalized_shape, weight, bias, eps, …); variant 1,
 * native_layer_norm: mean and 1 / deviation too */
ig_status ig_ts_op_layer_norm(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0), *mean, *scale;
    uint32_t axis;
    if (!read_normalized(call, x, &axis)) {
        return e->status;
    }
    ig_norm norm = read_norm(call, 2);
    norm.epsilon = ig_aten_float(call, 4);
    ig_value *y = ig_compose_layer_norm(e, x, axis, &norm);
    if (call->row->variant == 0) {
        return ig_aten_give(call, y);
    }
    ig_compose_moments(e, ig_expr_widen(e, x), axis, norm.epsilon, &mean, &scale);
    mean = ig_expr_like(e, mean, x);
    return give_three(call, y, mean, ig_expr_like(e, scale, x));
}

/* rms_norm(input, normalized_shape, weight, eps); eps None: the dtype's epsilon */
ig_status ig_ts_op_rms_norm(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    uint32_t axis;
    if (!read_normalized(call, x, &axis)) {
        return call->e->status;
    }
    double usual = x->type->dtype == IG_DT_f64 ? DBL_EPSILON : (double)FLT_EPSILON;
    ig_norm norm = { .scale = ig_aten_optional(call, 2),
                     .epsilon = ig_aten_float_or(call, 3, usual) };
    return ig_aten_give(call, ig_compose_rms_norm(call->e, x, axis, &norm));
}

/* ---- groups of channels ---- */

/* group_norm(input, num_groups, weight, bias, eps, …) */
ig_status ig_ts_op_group_norm(ig_ts_call *call) {
    ig_norm norm = read_norm(call, 2);
    norm.epsilon = ig_aten_float(call, 4);
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(call,
                        ig_compose_group_norm(call->e, x, ig_aten_int(call, 1), &norm));
}

/* native_group_norm(input, weight, bias, N, C, HxW, group, eps) */
ig_status ig_ts_op_native_group_norm(ig_ts_call *call) {
    ig_expr *e = call->e;
    int64_t groups = ig_aten_int(call, 6);
    ig_norm norm = read_norm(call, 1);
    norm.epsilon = ig_aten_float(call, 7);
    ig_value *x = ig_aten_tensor(call, 0), *mean, *scale;
    ig_value *y = ig_compose_group_norm(e, x, groups, &norm);
    IG_TRY(e->status);
    ig_dim all = ig_dim_product(e->module, x->type->dims + 1, x->type->rank - 1);
    ig_dim dims[] = { ig_expr_extent(e, x, 0), ig_dim_of(groups),
                      ig_dim_exact_div(e->module, all, ig_dim_of(groups)) };
    x = ig_expr_reshape(e, ig_expr_widen(e, x), 3, dims);
    ig_compose_moments(e, x, 2, norm.epsilon, &mean, &scale);
    mean = ig_expr_like(e, ig_expr_squeeze(e, mean, 2), y);
    return give_three(call, y, mean, ig_expr_like(e, ig_expr_squeeze(e, scale, 2), y));
}

/* Running statistics take the mean of the items' statistics over the batch. */
static void train_instances(ig_ts_call *call, ig_value *x, double momentum,
                            statistics *s) {
    ig_expr *e = call->e;
    ig_value *moments[2];
    ig_dim one = ig_dim_of(1), dims[IG_TENSOR_RANK];
    const ig_type *type = x->type;
    if (type->rank < 2) {
        ig_expr_fail(e, IG_INVALID, "instances of a tensor of rank %u", type->rank);
        return;
    }
    dims[0] = one;
    dims[1] = ig_dim_mul(e->module, type->dims[0], type->dims[1]);
    memcpy(dims + 2, type->dims + 2, (type->rank - 2u) * sizeof *dims);
    ig_value *each = ig_expr_reshape(e, x, type->rank, dims);
    ig_compose_batch_moments(e, each, &moments[0], &moments[1]);
    moments[1] = take_unbiased(e, each, moments[1]);
    for (uint32_t i = 0; i < 2; i++) {
        moments[i] = ig_expr_reshape(e, moments[i], 2, type->dims);
        moments[i] = ig_expr_reduce_axis(e, IG_REDUCE_mean, moments[i], 0, false);
    }
    blend_running(call, s, moments, momentum);
}

/* instance_norm(input, weight, bias, running_mean, running_var, use_input_stats,
 * momentum, eps, …) */
ig_status ig_ts_op_instance_norm(ig_ts_call *call) {
    ig_norm norm = read_norm(call, 1);
    norm.epsilon = ig_aten_float(call, 7);
    ig_value *x = ig_aten_tensor(call, 0);
    statistics s = { .running = { ig_aten_optional(call, 3),
                                  ig_aten_optional(call, 4) } };
    double momentum = ig_aten_float(call, 6);
    IG_TRY(call->e->status);
    if (ig_aten_bool(call, 5)) {
        ig_value *y = ig_compose_instance_norm(call->e, x, &norm);
        if ((s.running[0] || s.running[1]) && momentum != 0) {
            train_instances(call, x, momentum, &s);
            IG_TRY(keep_running(call, &batch_forms[IG_ATEN_BATCH_NORM], true, &s));
        }
        return ig_aten_give(call, y);
    }
    IG_TRY(read_running(call, &s));
    return ig_aten_give(call,
                        ig_compose_batch_norm(call->e, x, &norm, s.mean, s.variance));
}

/* ---- weights by their length ---- */

/* The length of v over all axes but `axis`; over all of them where that is -1. */
static ig_value *length_but_axis(ig_expr *e, ig_value *v, int64_t axis) {
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0;
    for (uint32_t d = 0; d < v->type->rank; d++) {
        axes[count] = d;
        count += d != axis;
    }
    ig_value *squares = ig_build_mul(e, v, v);
    return ig_build_sqrt(e,
                         ig_expr_reduce(e, IG_REDUCE_sum, squares, axes, count, true));
}

/* _weight_norm(v, g, dim): v g / |v|; variant 1: the lengths too, as f32 where v is
 * narrower */
ig_status ig_ts_op_weight_norm(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0), *g = ig_aten_tensor(call, 1);
    int64_t axis = ig_aten_int(call, 2);
    IG_TRY(e->status);
    axis += axis < -1 ? x->type->rank : 0;
    if (axis < -1 || axis >= x->type->rank) {
        return ig_ts_fail(call, IG_INVALID, "dim is %lld, expected -%d to %d",
                          (long long)ig_aten_int(call, 2), x->type->rank,
                          x->type->rank - 1);
    }
    ig_value *v = ig_expr_widen(e, x), *length = length_but_axis(e, v, axis);
    g = ig_expr_widen(e, g);
    ig_value *y = ig_build_mul(e, v, ig_build_div(e, g, length));
    y = ig_expr_like(e, y, x);
    return call->row->variant == 1 ? ig_aten_give2(call, y, length)
                                   : ig_aten_give(call, y);
}
