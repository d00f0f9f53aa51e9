/* QMoE of com.microsoft: mixtures of experts whose weights are integers of few bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  One loop goes over the experts
 * that have tokens, so that no other's weights are read. */
#include "compose/rows/segments.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/microsoft/bits.h"
#include "frontend/onnx/ops/microsoft/experts.h"

enum { X, ROUTER, FIRST, SECOND = 5, THIRD = 8, ZEROS = 11, MIXING = 14, REST };
enum { WEIGHTS, SCALES, BIAS }; /* inputs from a layer's first one on */

/* One layer of all experts: weights u8 [E, out, in * bits / 8], scales [E, out] or
 * [E, out, blocks], zero points as scales but of `bits` bits. */
typedef struct layer {
    ig_value *weights, *scales, *bias, *zeros; /* the last two may be NULL */
    int64_t bits, block;                       /* block 0: a scale for a whole row */
} layer;

typedef struct mixture {
    ig_onnx_node *node;
    ig_expr *e;
    ig_onnx_routes routes;
    layer layers[3]; /* the third without weights: there is none */
} mixture;

/* ---- inputs ---- */

static int64_t read_bits(const ig_onnx_node *node, uint32_t index) {
    static const char *const names[] = { "fc1_expert_weight_bits",
                                         "fc2_expert_weight_bits",
                                         "fc3_expert_weight_bits" };
    int64_t usual = ig_onnx_attr_between(node, "expert_weight_bits", 4, 2, 8);
    int64_t bits = ig_onnx_attr_between(node, names[index], usual, 2, 8);
    if (bits != 2 && bits != 4 && bits != 8) {
        ig_onnx_fail(node, IG_UNSUPPORTED,
                     "weights of %lld bits are not supported; quantise to 2, 4 or 8",
                     (long long)bits);
    }
    return bits;
}

static void check_bytes(const ig_onnx_node *node, uint32_t input) {
    ig_dtype dtype = (ig_dtype)node->inputs[input]->type->dtype;
    if (dtype != IG_DT_u8) {
        ig_onnx_fail(node, IG_UNSUPPORTED,
                     "input %u has elements of type %s; integers in u8 are supported",
                     input, ig_dtypes[dtype].name);
    }
}

/* A layer whose inputs begin at `first`; `index` is its place among the three. */
static layer read_layer(const ig_onnx_node *node, uint32_t index, uint32_t first) {
    layer l = { .bits = read_bits(node, index),
                .block = ig_onnx_attr_between(node, "block_size", 0, 0, INT32_MAX) };
    uint32_t rank = l.block ? 3 : 2;
    if (!ig_onnx_needs_input(node, first) ||
        !ig_onnx_needs_input(node, first + SCALES)) {
        return l;
    }
    check_bytes(node, first);
    l.weights = ig_onnx_ranked_input(node, first, 3);
    l.scales = ig_onnx_ranked_input(node, first + SCALES, rank);
    if (ig_onnx_in(node, first + BIAS)) {
        l.bias = ig_onnx_ranked_input(node, first + BIAS, 2);
    }
    if (ig_onnx_in(node, ZEROS + index)) {
        check_bytes(node, ZEROS + index);
        l.zeros = ig_onnx_ranked_input(node, ZEROS + index, rank);
    }
    return l;
}

/* Forms that files may ask for and that are not supported. */
static ig_status check_form(const ig_onnx_node *node) {
    if (ig_onnx_attr_choice(node, "quant_type", "int fp4 nvfp4 fp8 wfp4afp8")) {
        ig_str type = ig_onnx_attr_str(node, "quant_type", "");
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "quant_type %.*s is not supported; quantise experts to "
                            "integers (int)",
                            IG_STR_ARG(type));
    }
    if (ig_onnx_attr_int(node, "weights_prepacked", -1) == 1) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "weights_prepacked is 1: weights in the order of one "
                            "device are not supported; export them with 0");
    }
    for (uint32_t i = REST; i < node->input_count; i++) {
        if (node->inputs[i]) {
            return ig_onnx_fail(node, IG_UNSUPPORTED,
                                "input %u, for floats of few bits, is not supported",
                                i);
        }
    }
    return node->e->status;
}

/* ---- one expert ---- */

/* The expert of a trip, and its rows: extents that the run learns in each. */
typedef struct own {
    ig_dim expert, start, size;
} own;

/* Of an expert: its numbers' scales, f32 [out, blocks]. */
static ig_value *own_scales(ig_expr *e, const layer *l, ig_dim expert) {
    ig_value *scales = ig_expr_select(e, l->scales, 0, expert);
    scales = ig_expr_cast(e, scales, IG_DT_f32);
    return l->block ? scales : ig_expr_unsqueeze(e, scales, 1);
}

/* The amounts subtracted from the numbers, as the scales; NULL: half of the numbers. */
static ig_value *own_zeros(ig_expr *e, const layer *l, ig_dim expert,
                           const ig_value *scales) {
    if (!l->zeros || !scales) {
        return NULL;
    }
    uint32_t axis = l->block ? 1 : 0; /* its last byte may hold too many */
    ig_value *zeros = ig_expr_select(e, l->zeros, 0, expert);
    zeros = ig_onnx_unpack_bits(e, zeros, l->bits);
    zeros = ig_expr_slice(e, zeros, axis, ig_dim_of(0), scales->type->dims[axis], 1);
    zeros = ig_expr_cast(e, zeros, IG_DT_f32);
    return l->block ? zeros : ig_expr_unsqueeze(e, zeros, 1);
}

/* x [rows, in] to [rows, out]. */
static ig_value *apply_layer(ig_expr *e, const layer *l, ig_dim expert, ig_value *x) {
    ig_value *scales = own_scales(e, l, expert);
    ig_value *bytes = ig_expr_select(e, l->weights, 0, expert);
    if (!scales || !bytes || !x) {
        return NULL;
    }
    const ig_dim *entries = scales->type->dims, *rows = bytes->type->dims;
    ig_expr_guard_equal(e, entries[0], rows[0],
                        "scales must have an entry for each row of weights");
    if (l->block) {
        ig_dim each = ig_dim_of(l->block * l->bits / 8);
        ig_expr_guard_equal(e, ig_dim_mul(e->module, entries[1], each), rows[1],
                            "scales must have an entry for each block of weights");
    }
    ig_expr_guard_equal(e, ig_onnx_extent(e, x, 1),
                        ig_dim_mul(e->module, rows[1], ig_dim_of(8 / l->bits)),
                        "weights must have a number for each column of the tokens");
    ig_value *y = ig_build_matmul_bits(e, x, bytes, scales,
                                       own_zeros(e, l, expert, scales),
                                       (ig_matmul_bits_attrs){ .bits = l->bits });
    if (l->bias) {
        ig_value *bias = ig_expr_select(e, l->bias, 0, expert);
        y = ig_build_add(e, y, ig_expr_cast(e, bias, IG_DT_f32));
    }
    return y;
}

static ig_value *run_expert(const mixture *m, ig_dim expert, ig_value *x) {
    ig_expr *e = m->e;
    ig_value *inner = apply_layer(e, &m->layers[0], expert, x), *third = NULL;
    if (m->layers[2].weights) {
        third = apply_layer(e, &m->layers[2], expert, x);
    }
    inner = ig_onnx_activate_experts(e, &m->routes.activation, inner, third);
    return apply_layer(e, &m->layers[1], expert, inner);
}

/* ---- the loop ---- */

/* The next of the experts that have rows, and which those are. */
static bool find_own(const mixture *m, ig_value *expert, ig_value *starts, own *out) {
    ig_expr *e = m->e;
    ig_value *start = ig_expr_gather(e, starts, expert, 0, IG_NEGATIVE_error);
    ig_value *end = ig_expr_gather(e, m->routes.by.ends, expert, 0, IG_NEGATIVE_error);
    ig_value *all[] = { expert, start, ig_build_sub(e, end, start) };
    for (uint32_t i = 0; i < IG_COUNT_OF(all); i++) {
        all[i] = ig_expr_unsqueeze(e, all[i], 0);
    }
    ig_dim dims[IG_COUNT_OF(all)];
    ig_expr_bind_dims(e, ig_expr_concat(e, 0, all, 3), 3, "rows of an expert", dims);
    *out = (own){ dims[0], dims[1], dims[2] };
    if (e->status != IG_OK) {
        return false;
    }
    ig_expr_guard_less_equal(e, ig_dim_add(e->module, out->start, out->size),
                             ig_onnx_extent(e, m->routes.by.order, 0),
                             "rows of an expert must be among all");
    for (uint32_t i = 0; i < IG_COUNT_OF(m->layers); i++) {
        if (m->layers[i].weights) {
            ig_expr_guard_less_equal(e,
                                     ig_dim_add(e->module, out->expert, ig_dim_of(1)),
                                     ig_onnx_extent(e, m->layers[i].weights, 0),
                                     "each router value must have an expert");
        }
    }
    return e->status == IG_OK;
}

/* y with the rows of `expert` in their places. */
static ig_value *build_trip(const mixture *m, ig_value *expert, ig_value *starts,
                            ig_value *y) {
    ig_expr *e = m->e;
    own o;
    if (!find_own(m, expert, starts, &o)) {
        return NULL;
    }
    ig_value *order = ig_expr_slice(e, m->routes.by.order, 0, o.start, o.size, 1);
    ig_value *token = ig_onnx_token_of(e, &m->routes, order);
    ig_value *x = ig_compose_take_rows(e, m->routes.tokens, token);
    ig_dim at[] = { o.start, ig_dim_of(0) };
    return ig_build_insert(e, y, run_expert(m, o.expert, x),
                           (ig_insert_attrs){ .starts = { at, 2 } });
}

/* The outputs [T * k, out] of the experts that have rows. */
static ig_value *run_experts(const mixture *m) {
    ig_expr *e = m->e;
    ig_dim none = ig_dim_of(0), one = ig_dim_of(1);
    ig_dim experts = ig_onnx_extent(e, m->routes.by.ends, 0);
    ig_value *starts = ig_expr_pad(e, m->routes.by.ends, &one, &none, IG_PAD_constant,
                                   0);
    starts = ig_expr_slice(e, starts, 0, none, experts, 1);
    ig_value *has_rows = ig_build_gt(e, m->routes.by.ends, starts);
    ig_value *used = ig_expr_flatten(e, ig_build_nonzero(e, has_rows));
    if (!used) {
        return NULL;
    }
    ig_dim dims[] = { ig_onnx_extent(e, m->routes.by.order, 0),
                      ig_onnx_extent(e, m->layers[1].weights, 1) };
    ig_value *operands[] = { ig_expr_dim(e, ig_onnx_extent(e, used, 0), IG_DT_i64),
                             ig_expr_number(e, IG_DT_bool, 1),
                             ig_expr_fill(e, IG_DT_f32, 2, dims, 0) };
    ig_builder outside = *e->builder;
    ig_op *op = ig_expr_open_loop(e, operands);
    if (!op) {
        return NULL;
    }
    ig_value *expert = ig_expr_gather(e, used, op->bodies[0]->args[0], 0,
                                      IG_NEGATIVE_error);
    ig_value *next = build_trip(m, expert, starts, op->bodies[0]->args[2]);
    if (next) {
        ig_make_yield(e->builder, (ig_value *[]){ op->bodies[0]->args[1], next }, 2);
    }
    *e->builder = outside;
    return next ? ig_op_result(op, 0) : NULL;
}

/* Without weights of their own (MIXING), those of a token sum to 1, as ONNX Runtime's
 * kernel for CPUs has it, whatever normalize_routing_weights says. */
ig_status ig_onnx_import_quantised_experts(ig_onnx_node *node) {
    mixture m = { .node = node, .e = node->e };
    ig_value *mixing = ig_onnx_in(node, MIXING);
    bool is_shared = ig_onnx_attr_bool(node, "normalize_routing_weights", false);
    IG_TRY(check_form(node));
    m.layers[0] = read_layer(node, 0, FIRST);
    m.layers[1] = read_layer(node, 1, SECOND);
    if (ig_onnx_in(node, THIRD)) {
        m.layers[2] = read_layer(node, 2, THIRD);
    }
    if (mixing) {
        mixing = ig_onnx_ranked_input(node, MIXING, 2);
    }
    IG_TRY(node->e->status);
    ig_onnx_share share = is_shared || !mixing ? IG_ONNX_SHARE_chosen
                                               : IG_ONNX_SHARE_all;
    if (!ig_onnx_route(node, share, mixing, THIRD, &m.routes)) {
        return node->e->status;
    }
    return ig_onnx_join_experts(node, &m.routes, run_experts(&m));
}
