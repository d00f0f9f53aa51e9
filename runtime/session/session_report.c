/* Messages for reports of kernels.  SPDX-License-Identifier: Apache-2.0 */
#include "base/access.h"
#include "runtime/session/session.h"

#include <assert.h>
#include <stdio.h>

enum { WHERE_BYTES = 256, RANGE_BYTES = 64 };

/* "input 'ids'", or the name of a value that the model computes. */
static void name_operand(const ig_plan *plan, const ig_plan_operand *operand,
                         char *text, size_t size) {
    if (operand->buffer == IG_NONE) {
        (void)snprintf(text, size, "an operand");
        return;
    }
    const ig_plan_buffer *buffer = &plan->buffers[operand->buffer];
    const char *kind = "value";
    ig_plan_text name = buffer->name;
    if (buffer->space == IG_SPACE_INPUT) {
        kind = "input";
        name = plan->inputs[buffer->index].name;
    } else if (buffer->space == IG_SPACE_OUTPUT) {
        kind = "output";
        name = plan->outputs[buffer->index].name;
    }
    if (name.size == 0) {
        (void)snprintf(text, size, "an inner value's");
        return;
    }
    (void)snprintf(text, size, "%s '%s'", kind, ig_plan_string(plan, name));
}

/* An offset within the range of offsets is the first, which is not 0, or falls. */
static void name_range(const ig_session *session, const ig_plan_operand *operand,
                       int64_t position, int64_t value, char text[RANGE_BYTES]) {
    int64_t low, high;
    if (operand->high == IG_NONE ||
        !ig_plan_evaluate(session->plan, operand->high, session->symbols, &high) ||
        !ig_plan_evaluate_or(session->plan, operand->low, session->symbols, 0, &low)) {
        (void)snprintf(text, RANGE_BYTES, "out of range");
    } else if (value >= low && value < high) {
        (void)snprintf(text, RANGE_BYTES, "%s",
                       position ? "less than the one before" : "expected 0");
    } else if (high <= low) {
        (void)snprintf(text, RANGE_BYTES, "but there is nothing to choose from");
    } else {
        (void)snprintf(text, RANGE_BYTES, "outside %lld..%lld", (long long)low,
                       (long long)high - 1);
    }
}

/* Elements that the rows before a block hold, and those before the operand's offset. */
static int64_t elements_before(const ig_session *session, uint32_t index,
                               uint32_t operand, int64_t row) {
    const ig_plan *plan = session->plan;
    const ig_plan_step *step = &plan->steps[index];
    assert(operand < step->operands.count && "the step has no such operand");
    uint32_t slot = session->program->execs[index].slot + operand;
    uint32_t buffer = plan->operands[step->operands.first + operand].buffer;
    uint32_t unit = (ig_dtype_code_bits(plan->buffers[buffer].dtype) + 7) / 8;
    int64_t stride = session->shape->slot_strides[slot];
    if (unit == 0 || stride == IG_WORKER_STRIDE) {
        return 0;
    }
    return (row * stride + session->shape->slot_offsets[slot]) / unit;
}

const char *ig_session_where(const ig_session *session, uint32_t index,
                             char text[IG_WHERE_BYTES]) {
    assert(index < session->plan->steps_count && "the plan has no such step");
    const ig_plan_step *step = &session->plan->steps[index];
    bool is_known = step->source.size > 0;
    (void)snprintf(text, IG_WHERE_BYTES, is_known ? "%s" : "step '%s'",
                   ig_plan_string(session->plan, is_known ? step->source : step->name));
    return text;
}

/* ---- accesses that leave their memory: reports of checked kernels ---- */

static void name_memory(const ig_plan *plan, const ig_plan_step *step, uint32_t memory,
                        char text[WHERE_BYTES]) {
    if (memory < step->operands.count) {
        char name[WHERE_BYTES - 32];
        const ig_plan_operand *operand = &plan->operands[step->operands.first + memory];
        name_operand(plan, operand, name, sizeof name);
        (void)snprintf(text, WHERE_BYTES, "operand %u, %s", (unsigned)memory, name);
        return;
    }
    (void)snprintf(text, WHERE_BYTES, "%s",
                   memory == IG_ACCESS_SCRATCH ? "its scratch memory"
                   : memory == IG_ACCESS_LOCAL ? "an array of its own"
                                               : "an operand");
}

static ig_status report_access(ig_session *session, uint32_t index,
                               const ig_kernel_report_v0 *report) {
    const ig_plan_step *step = &session->plan->steps[index];
    const char *source = ig_plan_string(session->plan, step->source);
    char where[WHERE_BYTES];
    name_memory(session->plan, step, (uint32_t)report->operand, where);
    bool is_store = report->operand >> IG_ACCESS_STORE_BIT & 1;
    int64_t bytes = report->operand >> IG_ACCESS_BYTES_BIT & IG_ACCESS_BYTES_MASK;
    return ig_message_set(
        &session->message, IG_INTERNAL,
        "a defect of Ingot: '%s'%s%s %s %lld bytes at byte %lld of %s, which has %lld",
        ig_plan_string(session->plan, step->name), source[0] ? " of " : "", source,
        is_store ? "stores" : "loads", (long long)bytes, (long long)report->position,
        where, (long long)report->value);
}

/* ---- elements out of range ---- */

ig_status ig_session_report(ig_session *session, uint32_t index, int64_t row,
                            const ig_kernel_report_v0 *report) {
    const ig_plan *plan = session->plan;
    const ig_plan_step *step = &plan->steps[index];
    char from[IG_WHERE_BYTES], where[WHERE_BYTES], range[RANGE_BYTES];
    if (report->operand & IG_ACCESS_OUTSIDE) {
        return report_access(session, index, report);
    }
    ig_session_where(session, index, from);
    if (report->operand & IG_REPORT_ZERO_DIVISOR) {
        return ig_message_set(&session->message, IG_INVALID,
                              "%s: an integer is divided by zero", from);
    }
    if (report->operand >= step->operands.count ||
        plan->operands[step->operands.first + report->operand].buffer == IG_NONE) {
        return ig_message_set(&session->message, IG_INVALID,
                              "%s: position %lld: %lld is out of range", from,
                              (long long)report->position, (long long)report->value);
    }
    const ig_plan_operand *operand =
        &plan->operands[step->operands.first + report->operand];
    name_operand(plan, operand, where, sizeof where);
    int64_t position = report->position +
                       elements_before(session, index, (uint32_t)report->operand, row);
    name_range(session, operand, report->position, report->value, range);
    return ig_message_set(&session->message, IG_INVALID,
                          "%s: %s element %lld is %lld, %s", from, where,
                          (long long)position, (long long)report->value, range);
}

ig_status ig_session_take_report(ig_session *session) {
    const ig_queue_report *report = &session->queue->report;
    assert(report->step < session->plan->steps_count && "a report of no step");
    assert(report->kernel.operand >= 0 && "a queue with a report has none");
    session->queue->has_report = false;
    return ig_session_report(session, report->step, report->row, &report->kernel);
}
