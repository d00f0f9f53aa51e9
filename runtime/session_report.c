/* Messages for reports of kernels.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session.h"

#include <assert.h>
#include <stdio.h>

enum { WHERE_BYTES = 256, RANGE_BYTES = 64 };

/* "input 'ids'", or the name of a value that the model computes. */
static void name_operand(const ig_plan *plan, const ig_plan_operand *operand,
                         char text[WHERE_BYTES]) {
    if (operand->buffer == IG_NONE) {
        (void)snprintf(text, WHERE_BYTES, "an operand");
        return;
    }
    const ig_plan_buffer *buffer = &plan->buffers[operand->buffer];
    bool is_input = buffer->space == IG_SPACE_INPUT;
    ig_plan_text name = is_input ? plan->inputs[buffer->index].name : buffer->name;
    (void)snprintf(text, WHERE_BYTES, "%s '%s'", is_input ? "input" : "value",
                   ig_plan_string(plan, name));
}

static void name_range(const ig_session *session, const ig_plan_operand *operand,
                       char text[RANGE_BYTES]) {
    int64_t low, high;
    if (operand->high == IG_NONE ||
        !ig_expr_evaluate(session->plan, operand->high, session->symbols, &high) ||
        !ig_expr_evaluate_or(session->plan, operand->low, session->symbols, 0, &low)) {
        (void)snprintf(text, RANGE_BYTES, "out of range");
    } else if (high <= low) {
        (void)snprintf(text, RANGE_BYTES, "but there is nothing to choose from");
    } else {
        (void)snprintf(text, RANGE_BYTES, "outside %lld..%lld", (long long)low,
                       (long long)high - 1);
    }
}

/* Elements that the rows before a block hold, and those before the operand's offset. */
static int64_t elements_before(const ig_session *session, uint32_t number,
                               uint32_t operand, int64_t row) {
    const ig_plan *plan = session->plan;
    const ig_plan_step *step = &plan->steps[number];
    assert(operand < step->operands.count && "the step has no such operand");
    uint32_t slot = session->program->execs[number].slot + operand;
    uint32_t buffer = plan->operands[step->operands.first + operand].buffer;
    uint32_t unit = (ig_dtype_code_bits(plan->buffers[buffer].dtype) + 7) / 8;
    int64_t stride = session->shape->slot_strides[slot];
    if (unit == 0 || stride == IG_WORKER_STRIDE) {
        return 0;
    }
    return (row * stride + session->shape->slot_offsets[slot]) / unit;
}

ig_status ig_session_report(ig_session *session, uint32_t number, int64_t row,
                            const ig_kernel_report_v0 *report) {
    const ig_plan *plan = session->plan;
    const ig_plan_step *step = &plan->steps[number];
    const char *name = ig_plan_string(plan, step->name);
    char where[WHERE_BYTES], range[RANGE_BYTES];
    if (report->operand >= step->operands.count ||
        plan->operands[step->operands.first + report->operand].buffer == IG_NONE) {
        return ig_message_set(&session->message, IG_INVALID,
                              "'%s': position %lld: %lld is out of range", name,
                              (long long)report->position, (long long)report->value);
    }
    const ig_plan_operand *operand =
        &plan->operands[step->operands.first + report->operand];
    name_operand(plan, operand, where);
    name_range(session, operand, range);
    int64_t position = report->position +
                       elements_before(session, number, (uint32_t)report->operand, row);
    return ig_message_set(&session->message, IG_INVALID,
                          "%s element %lld is %lld, %s (in '%s')", where,
                          (long long)position, (long long)report->value, range, name);
}

ig_status ig_session_take_report(ig_session *session) {
    const ig_queue_report *report = &session->queue->report;
    assert(report->step < session->plan->steps_count && "a report of no step");
    assert(report->kernel.operand >= 0 && "a queue with a report has none");
    session->queue->has_report = false;
    return ig_session_report(session, report->step, report->row, &report->kernel);
}
