/* An elementwise region whose last dim has few elements: pairs, pixels of three
 * colours, elements that are repeated.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Lanes run along the dim before it, and the region's code is emitted for each element
 * of the last dim.  Results are contiguous over both, so the vectors are dealt out:
 *
 *     r0 r1 … of element 0,  s0 s1 … of element 1   ->   r0 s0 r1 s1 …
 */
#include "passes/lower/cpu/map.h"

#include <assert.h>

enum { NARROW = 4, LANES = 64 };

/* An operand with all dims of the space, the last two of them exchanged. */
static ig_lower_operand exchange_dims(const map_space *s, const ig_lower_operand *x) {
    ig_lower *lower = s->lower;
    ig_dim dims[IG_TENSOR_RANK];
    ig_dim *strides = IG_NEW_ARRAY(lower->arena, ig_dim, s->rank);
    uint32_t missing = s->rank - x->type->rank;
    for (uint32_t d = 0; d < s->rank; d++) {
        uint32_t at = d + 2 == s->rank ? d + 1 : d + 1 == s->rank ? d - 1 : d;
        dims[at] = d < missing ? ig_dim_of(1) : x->type->dims[d - missing];
        strides[at] = d < missing ? ig_dim_of(0) : x->strides[d - missing];
    }
    const ig_type *type = ig_type_with_dims(lower->module, x->type, s->rank, dims);
    return (ig_lower_operand){ .buffer = x->buffer, .type = type, .strides = strides };
}

/* Vectors of the dim before the last can be loaded. */
static bool loads_lanes(const map_space *s, const ig_lower_operand *in) {
    int64_t step = 0;
    ig_dim own = ig_lower_step(s->lower, in, s->rank, s->dims, s->rank - 2);
    bool is_known = ig_dim_constant(s->lower->module, own, &step);
    return is_known &&
           (step == 0 || step == 1 || k_is_near((ig_dtype)in->type->dtype, step));
}

static bool stores_pairs(const map_space *s, const ig_lower_operand *out) {
    return ig_dim_is(out->strides[s->rank - 1], 1) &&
           ig_dim_is(out->strides[s->rank - 2], s->narrow) &&
           out->type->dtype != IG_DT_bool;
}

bool map_narrow_space(map_space *s) {
    ig_lower *lower = s->lower;
    int64_t wide = 0;
    if (s->rank < 2 || s->lanes < 4 ||
        !ig_dim_constant(lower->module, s->dims[s->rank - 1], &s->narrow) ||
        s->narrow < 2 || s->narrow > NARROW || ig_lower_is_heavy(lower->body) ||
        (ig_dim_constant(lower->module, s->dims[s->rank - 2], &wide) &&
         wide < s->lanes)) {
        s->narrow = 0;
        return false;
    }
    bool is_good = true;
    for (uint32_t i = 0; i < lower->in_count; i++) {
        is_good = is_good && loads_lanes(s, &lower->ins[i]);
    }
    for (uint32_t i = 0; i < lower->out_count; i++) {
        is_good = is_good && stores_pairs(s, &lower->outs[i]);
    }
    if (!is_good) {
        s->narrow = 0;
        return false;
    }
    for (uint32_t i = 0; i < lower->in_count; i++) {
        lower->ins[i] = exchange_dims(s, &lower->ins[i]);
    }
    for (uint32_t i = 0; i < lower->out_count; i++) {
        lower->outs[i] = exchange_dims(s, &lower->outs[i]);
    }
    s->dims = lower->outs[0].type->dims;
    s->turned = s->rank - 2;
    return true;
}

/* Lanes of `narrow` vectors in turn, from element v * lanes on. */
static ig_value *deal_lanes(const map_space *s, ig_builder *b, ig_value *const *parts,
                            int64_t v) {
    int64_t picks[LANES], lanes = s->lanes;
    ig_value *all = parts[0];
    assert(lanes <= LANES && "a vector of the target");
    for (int64_t part = 1; part < s->narrow; part++) {
        for (int64_t i = 0; i < lanes; i++) {
            int64_t element = v * lanes + i, from = element / s->narrow;
            int64_t before = part > 1 ? i : from;
            picks[i] = element % s->narrow == part ? lanes + from : before;
        }
        all = k_shuffle(b, all, parts[part], picks, s->lanes);
    }
    return all;
}

static void store_dealt(const map_space *s, const ig_site *site, uint32_t index,
                        ig_value *const *parts) {
    ig_builder *b = site->b;
    const ig_lower_operand *out = &s->lower->outs[index];
    ig_value *at = ig_lower_element(s->lower, site, out);
    ig_value *left = site->count ? k_mul(b, site->count, k_i64(b, s->narrow)) : NULL;
    for (int64_t v = 0; v < s->narrow; v++) {
        ig_value *away = k_i64(b, v * s->lanes);
        ig_value *count = left ? k_sub(b, left, away) : NULL;
        k_store_count(b, deal_lanes(s, b, parts, v), out->buffer, k_add(b, at, away),
                      count);
    }
}

void map_emit_narrow(const map_space *s, ig_builder *b, ig_value **index,
                     ig_value *count) {
    const ig_op *yield = s->lower->body->last;
    ig_map values[NARROW];
    ig_site site = { .b = b,
                     .lanes = s->lanes,
                     .rank = s->rank,
                     .dims = s->dims,
                     .index = index,
                     .count = count };
    for (int64_t j = 0; j < s->narrow; j++) {
        ig_map_init(&values[j], s->lower->arena);
    }
    for (uint32_t i = 0; i < s->lower->out_count; i++) {
        ig_value *parts[NARROW];
        for (int64_t j = 0; j < s->narrow; j++) {
            index[s->rank - 2] = k_i64(b, j);
            site.values = &values[j];
            parts[j] = ig_lower_value(s->lower, &site, yield->operands[i].value);
        }
        index[s->rank - 2] = k_i64(b, 0);
        store_dealt(s, &site, i, parts);
    }
}
