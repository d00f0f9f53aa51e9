/* Operands of host steps: copies on the host.  SPDX-License-Identifier: Apache-2.0
 *
 * Constants and the caller's inputs are on the host already, and are only read.
 */
#include "runtime/cuda/cuda_stage.h"

#include "base/checked.h"

static const ig_plan_buffer *buffer_of(const ig_session *session, uint32_t index,
                                       uint32_t operand) {
    const ig_plan *plan = session->plan;
    uint32_t first = plan->steps[index].operands.first;
    uint32_t buffer = plan->operands[first + operand].buffer;
    return buffer == IG_NONE ? NULL : &plan->buffers[buffer];
}

/* Where the operand is on the host without a copy, or NULL. */
static char *find_on_host(const ig_session *session, uint32_t index, uint32_t operand) {
    const ig_plan_buffer *buffer = buffer_of(session, index, operand);
    const void *data = NULL;
    if (buffer && buffer->space == IG_SPACE_CONSTANT) {
        data = session->program->constants[buffer->index];
    } else if (buffer && buffer->space == IG_SPACE_INPUT &&
               session->staged->input_at[buffer->index] != IG_CUDA_NOWHERE) {
        data = session->inputs[buffer->index].data;
    }
    int64_t offset =
        session->shape->slot_offsets[session->program->execs[index].slot + operand];
    return data ? (char *)(uintptr_t)data + offset : NULL;
}

/* Room for a table of addresses and for all operands. */
static ig_status reserve_operands(ig_session *session, uint32_t index,
                                  const ig_host_call *call) {
    size_t size = ig_align_up(call->buffer_count * sizeof(void *), IG_LIFE_ALIGN);
    for (uint32_t i = 0; i < call->buffer_count; i++) {
        bool is_copied = call->buffers[i] && !find_on_host(session, index, i);
        size += is_copied ? ig_align_up((size_t)call->bytes[i] + 1, IG_LIFE_ALIGN) : 0;
    }
    return ig_region_reserve(&session->host, &session->staged->host, size)
               ? IG_OK
               : ig_message_set(&session->message, IG_LIMIT,
                                "out of memory for %zu bytes of operands on the host",
                                size);
}

ig_status ig_cuda_fetch(ig_session *session, uint32_t index, ig_host_call *call) {
    IG_TRY(reserve_operands(session, index, call));
    void **table = (void **)(void *)session->staged->host.data;
    char *at = session->staged->host.data +
               ig_align_up(call->buffer_count * sizeof *table, IG_LIFE_ALIGN);
    for (uint32_t i = 0; i < call->buffer_count; i++) {
        table[i] = call->buffers[i] ? find_on_host(session, index, i) : NULL;
        if (call->buffers[i] && !table[i]) {
            table[i] = at;
            at += ig_align_up((size_t)call->bytes[i] + 1, IG_LIFE_ALIGN);
            IG_TRY(ig_queue_copy(session->queue, IG_COPY_OUT, table[i],
                                 call->buffers[i], call->bytes[i]));
        }
    }
    call->buffers = table;
    return ig_queue_finish(session->queue);
}

ig_status ig_cuda_store(ig_session *session, uint32_t index, const ig_host_call *call) {
    const ig_shape *shape = session->shape;
    void *const *far = shape->slots + session->program->execs[index].slot;
    uint32_t outs = session->plan->steps[index].outs;
    for (uint32_t i = 0; i < outs && i < call->buffer_count; i++) {
        if (far[i]) {
            assert(!find_on_host(session, index, i) && "a host step writes an input");
            IG_TRY(ig_queue_copy(session->queue, IG_COPY_IN, far[i], call->buffers[i],
                                 call->bytes[i]));
        }
    }
    return ig_queue_finish(session->queue);
}
