/* The verifier: an op against its row of the table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/silence.h"
#include "ir/semantics/constant.h"
#include "ir/verify/verifier.h"

enum { FEW_RESULTS = 8 };

static void check_counts(ig_verifier *v, const ig_op *op) {
    const ig_op_info *info = &ig_ops[op->code];
    if (op->operand_count < info->operand_min ||
        op->operand_count > info->operand_max) {
        ig_verify_defect(v, op, "%s cannot have %u operands", info->name,
                         op->operand_count);
    }
    if (info->result_count != IG_MANY && op->result_count != info->result_count) {
        ig_verify_defect(v, op, "%s has %u results, not %u", info->name,
                         info->result_count, op->result_count);
    }
    if (op->body_count != info->body_count) {
        ig_verify_defect(v, op, "%s has %u bodies, not %u", info->name,
                         info->body_count, op->body_count);
    }
    if (!(info->stages & v->stage)) {
        ig_verify_defect(v, op, "%s is not allowed at this stage", info->name);
    }
    if (info->traits & IG_COLLECTIVE && op->block->parent) {
        ig_verify_defect(v, op, "%s in a body, which not every rank may reach",
                         info->name);
    }
}

/* ---- attributes ---- */

/* Every number of an enumeration, or of a list of it, has a name. */
static void check_words(ig_verifier *v, const ig_op *op, uint32_t slot) {
    const ig_attr_info *info = &ig_ops[op->code].attrs[slot];
    const ig_attr *attr = &op->attrs[slot];
    bool is_list = attr->kind == IG_ATTR_INTS;
    uint32_t count = !info->names ? 0 : is_list ? attr->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        int64_t number = is_list ? attr->as.ints[i] : attr->as.i;
        if (!ig_attr_word(info, number)) {
            ig_verify_defect(v, op, "attribute '%s' has no name for %lld", info->name,
                             (long long)number);
        }
    }
}

static bool is_item(const ig_module *module, const ig_op *op, const char *name) {
    bool is_constant = (ig_ops[op->code].traits & IG_CONSTANT) != 0;
    return is_constant ? ig_module_weight(module, name) != NULL
                       : ig_module_graph(module, name) != NULL;
}

static void check_attr(ig_verifier *v, const ig_op *op, uint32_t slot) {
    const ig_attr_info *info = &ig_ops[op->code].attrs[slot];
    const ig_attr *attr = &op->attrs[slot];
    if (attr->kind == IG_ATTR_NONE) {
        if (info->is_required) {
            ig_verify_defect(v, op, "attribute '%s' is missing", info->name);
        }
        return;
    }
    if (attr->kind != (uint32_t)info->kind) {
        ig_verify_defect(v, op, "attribute '%s' is of another kind", info->name);
        return;
    }
    check_words(v, op, slot);
    if (attr->kind == IG_ATTR_DTYPE && (attr->as.i < 0 || attr->as.i >= IG_DT_COUNT)) {
        ig_verify_defect(v, op, "attribute '%s' is not an element type", info->name);
    } else if (attr->kind == IG_ATTR_SYM && !is_item(v->module, op, attr->as.str)) {
        ig_verify_defect(v, op, "the module has no @%s", attr->as.str);
    }
}

/* ---- operands ---- */

static void check_operand(ig_verifier *v, const ig_op *op, uint32_t index) {
    const ig_use *use = &op->operands[index];
    const ig_value *value = use->value;
    if (!value || use->user != op) {
        ig_verify_defect(v, op, "operand %u is linked wrongly", index);
        return;
    }
    if (!use->link || *use->link != use) {
        ig_verify_defect(v, op, "operand %u is not in the chain of its value", index);
    }
    if (value->id >= v->graph->value_count || v->facts[value->id].value != value) {
        ig_verify_defect(v, op, "operand %u is not defined before here", index);
        return;
    }
    ig_value_facts *facts = &v->facts[value->id];
    facts->references++;
    if (!value->type) {
        ig_verify_defect(v, op, "operand %u has no type", index);
    }
    if (!facts->is_visible) {
        ig_verify_defect(v, op, "operand %u is defined in a block that is closed",
                         index);
    }
}

/* ---- results ---- */

/* What values may be at each stage. */
bool ig_verify_fits_stage(const ig_verifier *verifier, const ig_type *type) {
    if (verifier->stage == IG_STAGE_KERNEL) {
        return type->kind == IG_VECTOR || type->kind == IG_BUFFER;
    }
    bool is_plan = verifier->stage == IG_STAGE_PLAN;
    return type->kind != IG_VECTOR && (is_plan || type->kind != IG_BUFFER);
}

static void check_result(ig_verifier *v, const ig_op *op, uint32_t index) {
    const ig_value *result = &op->results[index];
    if (result->def != op || result->index != index || result->block) {
        ig_verify_defect(v, op, "result %u is linked wrongly", index);
    }
    if (!result->type) {
        ig_verify_defect(v, op, "result %u has no type", index);
    } else if (!ig_verify_fits_stage(v, result->type)) {
        ig_verify_defect(v, op, "a value of type %s is not allowed at this stage",
                         ig_verify_type(v, result->type));
    }
}

/* Operands that a pass has just found to be constant: `infer` reports an error that
 * they cause, as a user's mistake. */
static bool reads_known_numbers(const ig_op *op) {
    if (ig_ops[op->code].traits & IG_MAP) {
        return false; /* types alone decide */
    }
    for (uint32_t i = 1; i < op->operand_count; i++) {
        const ig_value *operand = ig_op_operand(op, i);
        bool is_list = operand->type->dtype == IG_DT_i64 && operand->type->rank == 1;
        ig_dims_value known;
        if (is_list && ig_value_dims(operand, &known)) {
            return true;
        }
    }
    return false;
}

/* An extent turned out to be 0: whether the op has an answer then is for `infer` to
 * say, and in a body that never runs for nobody. */
static bool reads_nothing(const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_type *type = ig_op_operand(op, i)->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_is(type->dims[d], 0)) {
                return true;
            }
        }
    }
    return false;
}

/* The hook itself reports errors of the operands. */
static void check_types(ig_verifier *v, const ig_op *op) {
    ig_infer_hook infer = ig_ops[op->code].infer;
    const ig_type *few[FEW_RESULTS] = { NULL };
    const ig_type **types = few;
    if (!infer || v->has_types) {
        return;
    }
    if (op->result_count > FEW_RESULTS) {
        types = IG_NEW_ARRAY(v->arena, const ig_type *, op->result_count);
    }
    bool is_silent = reads_known_numbers(op) || reads_nothing(op);
    ig_silence silence;
    if (is_silent) {
        silence = ig_silence_begin(v->module->context);
    }
    ig_status status = infer((ig_op *)(uintptr_t)op, types); /* hooks read only */
    if (is_silent) {
        ig_silence_end(&silence);
    }
    if (status != IG_OK) {
        if (!is_silent) {
            ig_verify_defect(v, op, "its row does not take these operands");
        }
        return;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!ig_types_agree(v->module, op->results[i].type, types[i])) {
            ig_verify_defect(v, op, "result %u should be %s", i,
                             ig_verify_type(v, types[i]));
        }
    }
}

void ig_verify_row(ig_verifier *verifier, const ig_op *op) {
    size_t before = verifier->defects.count;
    check_counts(verifier, op);
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        check_attr(verifier, op, i);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        check_operand(verifier, op, i);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        check_result(verifier, op, i);
    }
    if (verifier->defects.count == before) {
        check_types(verifier, op);
    }
}
