/* Steps of optimisers, elementwise over a tensor that is trained.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/optimise.h"

/* The gradient with that of norm / 2 * x^2. */
static ig_value *regularise_gradient(ig_expr *e, const ig_optimised *o, double norm) {
    return ig_build_add(e, ig_expr_with(e, IG_OP_mul, o->x, norm), o->gradient);
}

void ig_compose_adagrad(ig_expr *e, ig_optimised *o, const ig_adagrad *how) {
    ig_value *age = ig_expr_with(e, IG_OP_mul, o->count, how->decay);
    age = ig_expr_like(e, ig_expr_with(e, IG_OP_add, age, 1), o->x);
    ig_value *rate = ig_build_div(e, o->rate, age);
    ig_value *g = regularise_gradient(e, o, how->norm);
    o->states[0] = ig_build_add(e, o->states[0], ig_build_mul(e, g, g));
    ig_value *size = ig_build_sqrt(e, o->states[0]);
    size = ig_expr_with(e, IG_OP_add, size, how->epsilon);
    ig_value *change = ig_build_div(e, ig_build_mul(e, rate, g), size);
    o->x = ig_build_sub(e, o->x, change);
}

/* base ^ count */
static ig_value *raise_base(ig_expr *e, const ig_optimised *o, double base) {
    return ig_build_pow(e, ig_expr_number(e, IG_DT_f64, base), o->count);
}

/* A state that moves towards `fresh`: weight * state + (1 - weight) * fresh. */
static ig_value *blend_state(ig_expr *e, ig_value *state, ig_value *fresh,
                             double weight) {
    return ig_build_add(e, ig_expr_with(e, IG_OP_mul, state, weight),
                        ig_expr_with(e, IG_OP_mul, fresh, 1 - weight));
}

/* The rate, corrected for states that began at 0. */
static ig_value *correct_rate(ig_expr *e, const ig_optimised *o, const ig_adam *how) {
    ig_value *up = ig_build_sqrt(
        e, ig_expr_number_with(e, IG_OP_sub, 1, raise_base(e, o, how->beta)));
    ig_value *down = ig_expr_number_with(e, IG_OP_sub, 1, raise_base(e, o, how->alpha));
    ig_value *wide = ig_expr_cast(e, o->rate, IG_DT_f64);
    ig_value *corrected = ig_build_div(e, ig_build_mul(e, wide, up), down);
    ig_value *has_begun = ig_expr_with(e, IG_OP_gt, o->count, 0);
    return ig_expr_like(e, ig_build_where(e, has_begun, corrected, wide), o->x);
}

void ig_compose_adam(ig_expr *e, ig_optimised *o, const ig_adam *how) {
    ig_value *g = regularise_gradient(e, o, how->norm);
    o->states[0] = blend_state(e, o->states[0], g, how->alpha);
    o->states[1] = blend_state(e, o->states[1], ig_build_mul(e, g, g), how->beta);
    ig_value *size = ig_build_sqrt(e, o->states[1]);
    size = ig_expr_with(e, IG_OP_add, size, how->epsilon);
    ig_value *rate = correct_rate(e, o, how);
    ig_value *change = ig_build_div(e, ig_build_mul(e, rate, o->states[0]), size);
    o->x = ig_expr_with(e, IG_OP_mul, ig_build_sub(e, o->x, change),
                        1 - how->norm_after);
}

void ig_compose_momentum(ig_expr *e, ig_optimised *o, const ig_momentum *how) {
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    ig_value *weight = ig_build_where(e, ig_expr_with(e, IG_OP_gt, o->count, 0),
                                      ig_expr_number(e, IG_DT_f64, how->beta), one);
    ig_value *g = regularise_gradient(e, o, how->norm);
    ig_value *fresh = ig_build_mul(e, ig_expr_like(e, weight, o->x), g);
    ig_value *kept = ig_expr_with(e, IG_OP_mul, o->states[0], how->alpha);
    ig_value *v = ig_build_add(e, kept, fresh);
    o->states[0] = v;
    if (how->is_nesterov) {
        v = ig_build_add(e, g, ig_expr_with(e, IG_OP_mul, v, how->alpha));
    }
    o->x = ig_build_sub(e, o->x, ig_build_mul(e, o->rate, v));
}
