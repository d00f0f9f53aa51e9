/* Views that take elements of an axis by an index: unfold, as_strided, open diagonals.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such a step is a gather whose index has strides: entry (i, j …) of the index is a
 * constant plus i * strides[0] + j * strides[1] + ….  The strides say where elements of
 * the view are in memory, and whether two of them are one.
 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <string.h>

typedef struct pick {
    const ig_dim *strides;
} pick;

ig_value *ig_ts_mark_pick(ig_ts_call *call, ig_value *taken, const ig_dim *strides) {
    if (!taken) {
        return NULL;
    }
    assert(taken->def && taken->def->code == IG_OP_gather && "elements of an axis");
    const ig_value *index = ig_op_operand(taken->def, 1);
    ig_dim *kept = IG_NEW_ARRAY(call->arena, ig_dim, index->type->rank + 1u);
    memcpy(kept, strides, index->type->rank * sizeof(*kept));
    pick *own = IG_NEW(call->arena, pick);
    *own = (pick){ kept };
    ig_map_set_id(&call->eval->picks, IG_MAP_PTR(index), own);
    return taken;
}

void ig_ts_pick_copy(ig_ts_eval *eval, const ig_value *from, const ig_value *to) {
    pick *own = ig_map_get_id(&eval->picks, IG_MAP_PTR(from));
    if (own) {
        ig_map_set_id(&eval->picks, IG_MAP_PTR(to), own);
    }
}

const ig_dim *ig_ts_pick_strides(const ig_ts_eval *eval, const ig_op *step) {
    const pick *own = ig_map_get_id(&eval->picks, IG_MAP_PTR(ig_op_operand(step, 1)));
    return own ? own->strides : NULL;
}

/* An axis whose stride is surely none of the larger ones of those left, or else the
 * last one; `rank`: none is left. */
static uint32_t find_narrowest(const ig_module *module, uint32_t rank,
                               const ig_dim *strides, const bool *is_left) {
    uint32_t last = rank;
    for (uint32_t i = 0; i < rank; i++) {
        bool is_it = is_left[i];
        last = is_it ? i : last;
        for (uint32_t k = 0; is_it && k < rank; k++) {
            is_it = !is_left[k] ||
                    ig_dim_less_equal(module, strides[i], strides[k]) == IG_YES;
        }
        if (is_it) {
            return i;
        }
    }
    return last;
}

/* Each stride must be wider than all that the narrower ones reach together, where its
 * axis has two elements or more.  What extents decide, the run checks. */
bool ig_ts_guard_distinct(ig_ts_eval *eval, ig_expr *e, const ig_op *step) {
    static const char message[] =
        "writes in place through a view, elements of which share memory";
    const ig_type *index = ig_op_operand(step, 1)->type;
    const ig_dim *strides = ig_ts_pick_strides(eval, step);
    bool is_left[IG_TENSOR_RANK];
    ig_module *m = eval->module;
    ig_dim reach = ig_dim_of(1), one = ig_dim_of(1);
    for (uint32_t i = 0; i < index->rank; i++) {
        is_left[i] = !ig_dim_is(index->dims[i], 1);
    }
    for (uint32_t i;
         (i = find_narrowest(m, index->rank, strides, is_left)) < index->rank;
         is_left[i] = false) {
        ig_dim more = ig_dim_sub(m, index->dims[i], one);
        ig_dim needed = ig_dim_mul(m, ig_dim_min(m, more, one), reach);
        if (ig_dim_less_equal(m, needed, strides[i]) == IG_NO) {
            return false;
        }
        ig_expr_guard_less_equal(e, needed, strides[i], message);
        reach = ig_dim_add(m, reach, ig_dim_mul(m, more, strides[i]));
    }
    return true;
}

/* One value everywhere: writing it twice is writing it once. */
bool ig_ts_is_uniform(const ig_value *value) {
    enum { OPS_MAX = 16 };
    for (uint32_t i = 0; i < OPS_MAX && value->type->rank > 0; i++) {
        ig_opcode code = value->def ? (ig_opcode)value->def->code : IG_OP_ret;
        if (code != IG_OP_expand && code != IG_OP_cast && code != IG_OP_reshape) {
            return false;
        }
        value = ig_op_operand(value->def, 0);
    }
    return value->type->rank == 0;
}
