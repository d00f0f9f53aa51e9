/* Results of branches whose ranks differ in axes of one element.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     y = If(c) { f32[] } else { f32[1] }
 *
 * A value of the IR has one rank, so y has the higher.  Ops that broadcast it to
 * another operand of that rank or more cannot tell; whatever else reads it could, and
 * is refused when the whole graph is known.
 */
#include "frontend/onnx/import/import.h"
#include "ir/ops.h"

#include <assert.h>

/* ---- one rank ---- */

/* Is `low` the same as `high` but for axes of one element in front? */
static bool is_levelled(ig_module *module, const ig_type *low, const ig_type *high) {
    uint32_t more = high->rank - low->rank;
    for (uint32_t i = 0; i < high->rank; i++) {
        bool is_good = i < more ? ig_dim_is(high->dims[i], 1)
                                : ig_dim_equal(module, high->dims[i],
                                               low->dims[i - more]) != IG_NO;
        if (!is_good) {
            return false;
        }
    }
    return true;
}

bool ig_onnx_can_level(ig_module *module, const ig_type *a, const ig_type *b) {
    return a->rank < b->rank ? is_levelled(module, a, b) : is_levelled(module, b, a);
}

static ig_status ranks_fail(const ig_onnx_import *import, const ig_location *where,
                            const char *name, const char *what) {
    return ig_error_hint(
        &import->context->diag, IG_UNSUPPORTED, where,
        "inputs of known extents (--input NAME=TYPE[EXTENTS], --dim NAME=EXTENT) may "
        "decide which branch it is; else give both branches one rank, by an Unsqueeze or "
        "a Reshape in one of them",
        "'%s', %s, has one rank in one branch of an If and another in the other", name,
        what);
}

ig_status ig_onnx_ranks_fail(const ig_onnx_scope *scope, const char *name,
                             const ig_onnx_name *found) {
    ig_location where = ig_onnx_where(scope, found->node, found->index);
    return ranks_fail(scope->import, &where, name, "an output");
}

static ig_status raise_rank(ig_onnx_node *node, ig_builder *builder, uint32_t rank,
                            ig_value **value) {
    const ig_type *type = (*value)->type;
    uint32_t more = rank - type->rank;
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i < more ? ig_dim_of(1) : type->dims[i - more];
    }
    ig_expr e = ig_onnx_expr_at(builder, node);
    *value = ig_expr_reshape(&e, *value, rank, dims);
    return e.status;
}

ig_status ig_onnx_level_ranks(ig_onnx_node *node, ig_builder *builders,
                              ig_value **values[2], const ig_value *result) {
    const ig_type *types[] = { (*values[0])->type, (*values[1])->type };
    bool are_tensors = types[0]->kind == IG_TENSOR && types[1]->kind == IG_TENSOR;
    if (!are_tensors || types[0]->rank == types[1]->rank) {
        return IG_OK;
    }
    uint32_t low = types[0]->rank < types[1]->rank ? 0 : 1;
    const ig_type *high = types[1 - low];
    if (!is_levelled(node->import->module, types[low], high)) {
        return IG_OK; /* whoever joins the types says it */
    }
    IG_TRY(raise_rank(node, &builders[low], high->rank, values[low]));
    ig_onnx_levelled levelled = { result->def, result->index };
    IG_PUSH(node->import->arena, &node->import->levelled, levelled);
    return IG_OK;
}

/* ---- who reads it ---- */

typedef struct readers {
    ig_onnx_import *import;
    ig_map seen;                   /* values of a rank that is not sure */
    IG_VEC(const ig_value *) open; /* of these, whose readers were not looked at */
} readers;

static void note_value(readers *r, const ig_value *value) {
    if (!ig_map_get_id(&r->seen, IG_MAP_PTR(value))) {
        ig_map_set_id(&r->seen, IG_MAP_PTR(value), (void *)1);
        IG_PUSH(r->import->arena, &r->open, value);
    }
}

/* Has the op an operand that gives its result the rank, whatever that of `value` is? */
static bool has_sure_rank(const readers *r, const ig_op *op, const ig_value *value) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *other = op->operands[i].value;
        if (other->type->rank >= value->type->rank &&
            !ig_map_get_id(&r->seen, IG_MAP_PTR(other))) {
            return true;
        }
    }
    return false;
}

static ig_status check_reader(readers *r, const ig_value *value, const ig_use *use) {
    ig_op *op = use->user;
    const ig_op *parent = op->block->parent;
    bool is_map = (ig_ops[op->code].traits & IG_MAP) != 0;
    if (is_map && has_sure_rank(r, op, value)) {
        return IG_OK;
    }
    if (is_map) {
        note_value(r, &op->results[0]);
        return IG_OK;
    }
    if (op->code == IG_OP_yield && parent && parent->code == IG_OP_if) {
        note_value(r, &parent->results[use - op->operands]);
        return IG_OK;
    }
    bool is_output = op->code == IG_OP_ret;
    const char *const *names = r->import->graph->result_names;
    const char *name = is_output && names ? names[use - op->operands] : value->name;
    return ranks_fail(r->import, ig_op_location(is_output ? value->def : op),
                      name ? name : "", is_output ? "an output" : "which it reads");
}

ig_status ig_onnx_check_stacked(const ig_onnx_node *node, uint32_t i,
                                const ig_type *type) {
    if (type->kind == IG_ANY) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "output %u of the body has a rank that the run decides; it "
                            "cannot be stacked",
                            i);
    }
    if (type->kind != IG_TENSOR || type->rank >= IG_TENSOR_RANK) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "output %u of the body is not a tensor of fewer than %d dimensions", i,
            IG_TENSOR_RANK);
    }
    return IG_OK;
}

ig_status ig_onnx_check_ranks(ig_onnx_import *import) {
    readers r = { .import = import };
    ig_map_init(&r.seen, import->arena);
    for (size_t i = 0; i < import->levelled.count; i++) {
        ig_onnx_levelled at = import->levelled.items[i];
        if (at.op->code != IG_OP_ERASED) { /* with a body that was built anew */
            note_value(&r, &at.op->results[at.index]);
        }
    }
    while (r.open.count > 0) {
        const ig_value *value = r.open.items[--r.open.count];
        for (const ig_use *use = value->uses; use; use = use->next) {
            IG_TRY(check_reader(&r, value, use));
        }
    }
    return IG_OK;
}
