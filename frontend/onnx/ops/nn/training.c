/* Steps of optimisers (ai.onnx.preview.training), elementwise over each tensor.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Inputs are the rate R, the update count T, then n tensors X to be optimised, n
 * gradients G, and n of each state; outputs are n new X and n of each new state.
 */
#include "frontend/onnx/ops/hooks.h"

enum { MOST_STATES = 2 };

/* One tensor with what belongs to it; functions put the new values in place. */
typedef struct step {
    const ig_onnx_node *node;
    ig_expr *e;
    ig_value *rate, *count; /* scalars: R in the dtype of x, T in f64 */
    ig_value *x, *gradient, *states[MOST_STATES];
} step;

typedef void (*step_fn)(step *s);

static ig_value *scale_by(const step *s, ig_value *x, const char *attr, double absent) {
    double factor = ig_onnx_attr_float(s->node, attr, absent);
    return ig_expr_with(s->e, IG_OP_mul, x, factor);
}

/* The gradient with that of norm_coefficient / 2 * x^2. */
static ig_value *regularise_gradient(const step *s) {
    return ig_build_add(s->e, scale_by(s, s->x, "norm_coefficient", 0), s->gradient);
}

static void step_adagrad(step *s) {
    ig_expr *e = s->e;
    double decay = ig_onnx_attr_float(s->node, "decay_factor", 0);
    ig_value *age = ig_expr_with(e, IG_OP_mul, s->count, decay);
    age = ig_expr_like(e, ig_expr_with(e, IG_OP_add, age, 1), s->x);
    ig_value *rate = ig_build_div(e, s->rate, age), *g = regularise_gradient(s);
    s->states[0] = ig_build_add(e, s->states[0], ig_build_mul(e, g, g));
    ig_value *size = ig_build_sqrt(e, s->states[0]);
    size = ig_expr_with(e, IG_OP_add, size, ig_onnx_attr_float(s->node, "epsilon", 0));
    ig_value *change = ig_build_div(e, ig_build_mul(e, rate, g), size);
    s->x = ig_build_sub(e, s->x, change);
}

/* base ^ T */
static ig_value *raise_base(const step *s, double base) {
    return ig_build_pow(s->e, ig_expr_number(s->e, IG_DT_f64, base), s->count);
}

/* A state that moves towards `fresh`: weight * state + (1 - weight) * fresh. */
static ig_value *blend_state(const step *s, ig_value *state, ig_value *fresh,
                             double weight) {
    return ig_build_add(s->e, ig_expr_with(s->e, IG_OP_mul, state, weight),
                        ig_expr_with(s->e, IG_OP_mul, fresh, 1 - weight));
}

static void step_adam(step *s) {
    ig_expr *e = s->e;
    double alpha = ig_onnx_attr_float(s->node, "alpha", 0.9f);
    double beta = ig_onnx_attr_float(s->node, "beta", 0.999f);
    ig_value *g = regularise_gradient(s);
    s->states[0] = blend_state(s, s->states[0], g, alpha);
    s->states[1] = blend_state(s, s->states[1], ig_build_mul(e, g, g), beta);
    ig_value *size = ig_build_sqrt(e, s->states[1]);
    size = ig_expr_with(e, IG_OP_add, size, ig_onnx_attr_float(s->node, "epsilon", 0));
    ig_value *up =
        ig_build_sqrt(e, ig_expr_number_with(e, IG_OP_sub, 1, raise_base(s, beta)));
    ig_value *down = ig_expr_number_with(e, IG_OP_sub, 1, raise_base(s, alpha));
    ig_value *wide = ig_expr_cast(e, s->rate, IG_DT_f64);
    ig_value *adjusted = ig_build_div(e, ig_build_mul(e, wide, up), down);
    ig_value *has_begun = ig_expr_with(e, IG_OP_gt, s->count, 0);
    ig_value *rate = ig_expr_like(e, ig_build_where(e, has_begun, adjusted, wide),
                                  s->x);
    ig_value *change = ig_build_div(e, ig_build_mul(e, rate, s->states[0]), size);
    double post = ig_onnx_attr_float(s->node, "norm_coefficient_post", 0);
    s->x = ig_expr_with(e, IG_OP_mul, ig_build_sub(e, s->x, change), 1 - post);
}

static void step_momentum(step *s) {
    ig_expr *e = s->e;
    double beta = ig_onnx_attr_float(s->node, "beta", 1);
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    ig_value *weight = ig_build_where(e, ig_expr_with(e, IG_OP_gt, s->count, 0),
                                      ig_expr_number(e, IG_DT_f64, beta), one);
    ig_value *g = regularise_gradient(s);
    ig_value *fresh = ig_build_mul(e, ig_expr_like(e, weight, s->x), g);
    ig_value *v = ig_build_add(e, scale_by(s, s->states[0], "alpha", 0), fresh);
    s->states[0] = v;
    if (ig_onnx_attr_choice(s->node, "mode", "standard nesterov")) {
        v = ig_build_add(e, g, scale_by(s, v, "alpha", 0));
    }
    s->x = ig_build_sub(e, s->x, ig_build_mul(e, s->rate, v));
}

/* How many states belong to a tensor, by the rows' variant. */
static const struct {
    step_fn fn;
    uint32_t states;
} optimisers[] = { { step_adagrad, 1 }, { step_adam, 2 }, { step_momentum, 1 } };

static void take_step(ig_onnx_node *node, uint32_t index, uint32_t count) {
    uint32_t states = optimisers[node->row->variant].states;
    step s = { .node = node, .e = node->e, .x = node->inputs[2 + index] };
    s.rate = ig_expr_like(node->e, ig_onnx_scalar_input(node, 0), s.x);
    s.count = ig_expr_cast(node->e, ig_onnx_scalar_input(node, 1), IG_DT_f64);
    s.gradient = node->inputs[2 + count + index];
    for (uint32_t k = 0; k < states; k++) {
        s.states[k] = node->inputs[2 + (2 + k) * count + index];
    }
    optimisers[node->row->variant].fn(&s);
    node->outputs[index] = s.x;
    for (uint32_t k = 0; k < states; k++) {
        node->outputs[(1 + k) * count + index] = s.states[k];
    }
}

ig_status ig_onnx_import_optimise(ig_onnx_node *node) {
    uint32_t each = optimisers[node->row->variant].states + 2;
    uint32_t given = node->input_count - 2, count = given / each;
    if (given % each || count == 0 || node->output_count != (each - 1) * count) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "has %u inputs and %u outputs, expected 2 + %u and %u for each tensor",
            node->input_count, node->output_count, each, each - 1);
    }
    for (uint32_t i = 2; i < node->input_count; i++) {
        if (!node->inputs[i]) {
            return ig_onnx_fail(node, IG_INVALID, "lacks input %u", i);
        }
        (void)ig_onnx_float_input(node, i);
    }
    for (uint32_t i = 0; i < count && !ig_onnx_has_failed(node); i++) {
        take_step(node, i, count);
    }
    return node->e->status;
}
