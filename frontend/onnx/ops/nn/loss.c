/* Losses of classes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/loss.h"

#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

/* The second input has all axes of the first but that of the classes. */
static bool check_targets(const ig_onnx_node *node) {
    const ig_type *x = ig_onnx_float_input(node, 0)->type,
                  *target = node->inputs[1]->type;
    if (x->rank < 2 || target->rank + 1 != x->rank) {
        ig_onnx_fail(
            node, IG_INVALID,
            "inputs of rank %u and %u: the second must have all axes of the first except that of the classes",
            x->rank, target->rank);
    }
    for (uint32_t d = 0; d < target->rank && !ig_onnx_has_failed(node); d++) {
        ig_onnx_guard_extents(node, 0, d ? d + 1 : 0, 1, d);
    }
    return !ig_onnx_has_failed(node);
}

/* variant 1: of the logarithm of softmax, which is a result too. */
ig_status ig_onnx_import_class_loss(ig_onnx_node *node) {
    static const ig_loss_total totals[] = { IG_LOSS_mean, IG_LOSS_sum, IG_LOSS_none };
    uint32_t total = ig_onnx_attr_choice(node, "reduction", "mean sum none");
    if (!check_targets(node)) {
        return node->e->status;
    }
    ig_class_loss l = { .log = node->inputs[0],
                        .target = node->inputs[1],
                        .weight = ig_onnx_in(node, 2),
                        .total = totals[total] };
    if (ig_onnx_attr(node, "ignore_index", NULL)) {
        l.ignored = (ig_maybe_int)IG_SET(ig_onnx_attr_int(node, "ignore_index", 0));
    }
    if (node->row->variant) {
        ig_softmax_attrs along = { .axis = 1, .log = true };
        l.log = ig_build_softmax(node->e, l.log, along);
    }
    if (node->output_count > 1) {
        node->outputs[1] = l.log;
    }
    return ig_onnx_give(node, ig_compose_class_loss(node->e, &l, NULL));
}
