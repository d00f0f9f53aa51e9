/* The interpreter of kernel form: threads in lockstep, control flow by frames.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread is run until it meets a barrier or the end; when none can run they must
 * all be at the same barrier, or all have ended.  Then the next epoch begins.
 */
#include "ir/hooks.h"
#include "ir/interpret/kernel_state.h"
#include "ir/semantics/scalar.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- set-up: the offset of each value ---- */

static void place_value(ig_kernel_run *run, const ig_value *value) {
    run->offset_of[value->id] = run->value_bytes;
    run->value_bytes += (ig_kernel_size(value->type) + 15) & ~(int64_t)15;
}

/* Lays out the values of a block and of its nested blocks (depth is bounded by the
 * parser and by the builders of kernels; checked all the same). */
static ig_status place_block(ig_kernel_run *run, const ig_block *block,
                             uint32_t depth) {
    if (depth > run->context->limits.graph_depth) {
        return ig_error_limit(&run->context->diag, NULL, &run->context->limits,
                              IG_LIMIT_graph_depth, "the nesting of kernel '%s'",
                              run->kernel->name);
    }
    run->frame_count = depth > run->frame_count ? depth : run->frame_count;
    for (uint32_t i = 0; i < block->arg_count; i++) {
        place_value(run, block->args[i]);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        int64_t yields = 0;
        for (uint32_t i = 0; i < op->result_count; i++) {
            place_value(run, &op->results[i]);
            yields += (ig_kernel_size(op->results[i].type) + 15) & ~(int64_t)15;
        }
        run->yield_bytes = yields > run->yield_bytes ? yields : run->yield_bytes;
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(place_block(run, op->bodies[i], depth + 1));
        }
    }
    return IG_OK;
}

static bool is_array(const ig_op *op) {
    return op->code == IG_OP_local || op->code == IG_OP_shared;
}

_Static_assert((int)IG_local_count == (int)IG_shared_count, "both are arrays");

static ig_status make_array(ig_kernel_run *run, const ig_op *op,
                            ig_kernel_region *region) {
    int64_t count = ig_attr_int(op, IG_local_count, 0);
    int64_t size = ig_dtypes[op->results[0].type->dtype].bits / 8;
    if (count < 0 || count > run->context->limits.interpret_bytes / 8) {
        return ig_error(&run->context->diag, IG_LIMIT, NULL,
                        "kernel '%s' has an array of %lld elements", run->kernel->name,
                        (long long)count);
    }
    return ig_kernel_region_create(run, region, ig_ops[op->code].name, count * size);
}

/* Arrays are at the top level: a `shared` one for all threads, a `local` one each. */
static ig_status make_arrays(ig_kernel_run *run) {
    uint32_t threads = run->call->threads;
    for (const ig_op *op = run->kernel->body.first; op; op = op->next) {
        if (is_array(op)) {
            run->array_of[op->id] = run->array_count++;
        }
    }
    IG_TRY(ig_kernel_alloc(run, run->array_count, sizeof *run->shared, &run->shared));
    for (uint32_t t = 0; t < threads; t++) {
        ig_kernel_region **locals = &run->threads[t].locals;
        IG_TRY(ig_kernel_alloc(run, run->array_count, sizeof **locals, locals));
    }
    for (const ig_op *op = run->kernel->body.first; op; op = op->next) {
        if (op->code == IG_OP_shared) {
            IG_TRY(make_array(run, op, &run->shared[run->array_of[op->id]]));
        }
        for (uint32_t t = 0; op->code == IG_OP_local && t < threads; t++) {
            IG_TRY(make_array(run, op, &run->threads[t].locals[run->array_of[op->id]]));
        }
    }
    return IG_OK;
}

/* ---- set-up: arguments ---- */

static ig_status make_buffers(ig_kernel_run *run) {
    const ig_block *body = &run->kernel->body;
    IG_TRY(ig_kernel_alloc(run, body->arg_count, sizeof *run->buffers, &run->buffers));
    for (uint32_t i = 0; i < body->arg_count; i++) {
        if (body->args[i]->type->kind == IG_BUFFER) {
            const ig_kernel_buffer *buffer = &run->call->buffers[run->buffer_count++];
            char *what;
            IG_TRY(ig_kernel_alloc(run, 32, 1, &what));
            snprintf(what, 32, "buffer %u", i);
            IG_TRY(ig_kernel_region_init(run, &run->buffers[i], what,
                                         (char *)buffer->data - buffer->before,
                                         buffer->before + buffer->bytes));
        }
    }
    return ig_kernel_region_create(run, &run->scratch, "the scratch memory",
                                   run->call->scratch_bytes);
}

static void give_arguments(ig_kernel_run *run, const ig_kernel_thread *thread) {
    const ig_block *body = &run->kernel->body;
    uint32_t params = 0, buffers = 0;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        if (body->args[i]->type->kind == IG_BUFFER) {
            ig_kernel_pointer pointer = { &run->buffers[i],
                                          run->call->buffers[buffers++].before };
            memcpy(ig_kernel_value(thread, body->args[i]), &pointer, sizeof pointer);
        } else {
            ig_tensor lanes = ig_kernel_lanes(thread, body->args[i]);
            ig_tensor_set_i64(&lanes, 0, run->call->params[params++]);
        }
    }
}

static ig_status make_threads(ig_kernel_run *run) {
    IG_TRY(
        ig_kernel_alloc(run, run->call->threads, sizeof *run->threads, &run->threads));
    IG_TRY(make_arrays(run));
    for (uint32_t t = 0; t < run->call->threads; t++) {
        ig_kernel_thread *thread = &run->threads[t];
        thread->run = run;
        thread->index = t;
        IG_TRY(ig_kernel_alloc(run, run->value_bytes, 1, &thread->values));
        IG_TRY(ig_kernel_alloc(run, run->yield_bytes, 1, &thread->yields));
        IG_TRY(ig_kernel_alloc(run, run->frame_count, sizeof *thread->frames,
                               &thread->frames));
        thread->depth = 1;
        thread->frames[0] = (ig_frame){ .next = run->kernel->body.first };
        give_arguments(run, thread);
    }
    return IG_OK;
}

/* Elements of buffers are whole bytes. */
static ig_status check_kernel(ig_kernel_run *run) {
    const ig_block *body = &run->kernel->body;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        if (ig_dtypes[body->args[i]->type->dtype].bits < 8) {
            return ig_error(
                &run->context->diag, IG_UNSUPPORTED, NULL,
                "kernel '%s': elements of argument %u are narrower than a byte",
                run->kernel->name, i);
        }
    }
    if (run->call->threads == 0 || run->call->threads > UINT16_MAX) {
        return ig_error(&run->context->diag, IG_INVALID, NULL,
                        "kernel '%s': %u threads", run->kernel->name,
                        run->call->threads);
    }
    return IG_OK;
}

static ig_status set_up(ig_kernel_run *run) {
    const ig_graph *kernel = run->kernel;
    IG_TRY(check_kernel(run));
    IG_TRY(ig_kernel_alloc(run, kernel->value_count, sizeof *run->offset_of,
                           &run->offset_of));
    IG_TRY(
        ig_kernel_alloc(run, kernel->op_count, sizeof *run->array_of, &run->array_of));
    IG_TRY(place_block(run, &kernel->body, 1));
    IG_TRY(make_buffers(run));
    return make_threads(run);
}

/* ---- control flow ---- */

static ig_frame *top_frame(ig_kernel_thread *thread) {
    return &thread->frames[thread->depth - 1];
}

static void push_frame(ig_kernel_thread *thread, const ig_op *owner,
                       const ig_block *body) {
    assert(thread->depth < thread->run->frame_count && "frames were counted");
    thread->depth++;
    *top_frame(thread) = (ig_frame){ .next = body->first, .owner = owner };
}

static void copy_value(ig_kernel_thread *thread, const ig_value *to,
                       const ig_value *from) {
    memcpy(ig_kernel_value(thread, to), ig_kernel_value(thread, from),
           (size_t)ig_kernel_size(to->type));
}

static void set_index(ig_kernel_thread *thread, const ig_op *loop, int64_t index) {
    ig_tensor lanes = ig_kernel_lanes(thread, loop->bodies[0]->args[0]);
    ig_tensor_set_i64(&lanes, 0, index);
}

ig_status ig_kernel_run_for(ig_kernel_thread *thread, const ig_op *op) {
    int64_t lo = ig_kernel_i64(thread, op, 0), hi = ig_kernel_i64(thread, op, 1);
    int64_t step = ig_kernel_i64(thread, op, 2);
    if (step <= 0) {
        return ig_kernel_error(thread, op, "the step is %lld", (long long)step);
    }
    bool is_entered = lo < hi;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_value *to = is_entered ? op->bodies[0]->args[1 + i] : &op->results[i];
        copy_value(thread, to, op->operands[3 + i].value);
    }
    if (is_entered) {
        push_frame(thread, op, op->bodies[0]);
        top_frame(thread)->index = lo;
        top_frame(thread)->limit = hi;
        top_frame(thread)->step = step;
        set_index(thread, op, lo);
    }
    return IG_OK;
}

ig_status ig_kernel_run_if(ig_kernel_thread *thread, const ig_op *op) {
    push_frame(thread, op, op->bodies[ig_kernel_i64(thread, op, 0) ? 0 : 1]);
    return IG_OK;
}

/* Yields go through memory of their own: they may be the arguments that they
 * replace. */
static void take_yields(ig_kernel_thread *thread, const ig_op *yield) {
    char *to = thread->yields;
    for (uint32_t i = 0; i < yield->operand_count; i++) {
        int64_t size = ig_kernel_size(yield->operands[i].value->type);
        memcpy(to, ig_kernel_value(thread, yield->operands[i].value), (size_t)size);
        to += (size + 15) & ~(int64_t)15;
    }
}

static void give_yields(ig_kernel_thread *thread, const ig_op *owner, bool to_args) {
    const char *from = thread->yields;
    for (uint32_t i = 0; i < owner->result_count; i++) {
        const ig_value *to = to_args ? owner->bodies[0]->args[1 + i]
                                     : &owner->results[i];
        int64_t size = ig_kernel_size(to->type);
        memcpy(ig_kernel_value(thread, to), from, (size_t)size);
        from += (size + 15) & ~(int64_t)15;
    }
}

ig_status ig_kernel_run_yield(ig_kernel_thread *thread, const ig_op *op) {
    ig_frame *frame = top_frame(thread);
    const ig_op *owner = frame->owner;
    if (!owner || op->operand_count != owner->result_count) {
        return ig_kernel_error(thread, op, "yields %u values where %u are wanted",
                               op->operand_count, owner ? owner->result_count : 0);
    }
    bool is_again = owner->code == IG_OP_for &&
                    !__builtin_add_overflow(frame->index, frame->step, &frame->index) &&
                    frame->index < frame->limit;
    take_yields(thread, op);
    give_yields(thread, owner, is_again);
    if (is_again) {
        frame->next = owner->bodies[0]->first;
        set_index(thread, owner, frame->index);
    } else {
        thread->depth--;
    }
    return IG_OK;
}

ig_status ig_kernel_run_ret(ig_kernel_thread *thread, const ig_op *op) {
    (void)op;
    thread->is_done = true;
    return IG_OK;
}

ig_status ig_kernel_run_barrier(ig_kernel_thread *thread, const ig_op *op) {
    thread->barrier = op;
    return IG_OK;
}

/* ---- running ---- */

static ig_kernel_run_hook find_step(const ig_op *op) {
    ig_kernel_run_hook run = ig_kernel_infos[op->code].run;
    return run || !ig_scalar_is_row((ig_opcode)op->code) ? run : ig_kernel_run_map;
}

static ig_status run_step(ig_kernel_thread *thread) {
    ig_frame *frame = top_frame(thread);
    const ig_op *op = frame->next;
    if (!op) {
        return ig_error(&thread->run->context->diag, IG_INTERNAL, NULL,
                        "kernel '%s': a body has no terminator",
                        thread->run->kernel->name);
    }
    ig_kernel_run_hook run = find_step(op);
    if (!run) {
        return ig_kernel_error(thread, op, "is not an op of kernel form");
    }
    frame->next = op->next; /* before: the op may push, pop or go back */
    if ((thread->run->steps++ & 1023) == 0) {
        IG_TRY(ig_context_poll(thread->run->context));
    }
    return run(thread, op);
}

/* All threads up to their next barrier, exchange or end; false in *out_more when all
 * have ended.  An exchange orders no memory, so accesses after it are of the same
 * epoch as those before it. */
static ig_status run_epoch(ig_kernel_run *run, bool *out_more) {
    const ig_kernel_thread *first = &run->threads[0];
    run->epoch += !first->barrier || first->barrier->code == IG_OP_barrier;
    for (uint32_t t = 0; t < run->call->threads; t++) {
        ig_kernel_thread *thread = &run->threads[t];
        thread->barrier = NULL;
        while (!thread->is_done && !thread->barrier) {
            IG_TRY(run_step(thread));
        }
        if (thread->is_done != first->is_done || thread->barrier != first->barrier) {
            const ig_op *at = thread->barrier ? thread->barrier : first->barrier;
            return ig_kernel_error(
                thread, at, "threads diverge: not all of them reach this barrier");
        }
    }
    *out_more = !first->is_done;
    return first->barrier && first->barrier->code != IG_OP_barrier
               ? ig_kernel_exchange(run, first->barrier)
               : IG_OK;
}

static ig_status run_kernel(ig_kernel_run *run) {
    bool has_more = true;
    IG_TRY(set_up(run));
    while (has_more) {
        IG_TRY(run_epoch(run, &has_more));
    }
    return IG_OK;
}

ig_status ig_interpret_kernel(const ig_graph *kernel, ig_kernel_call *call) {
    ig_kernel_run run = { .kernel = kernel,
                          .module = kernel->module,
                          .context = kernel->module->context,
                          .call = call };
    call->reported = false;
    ig_arena_init(&run.arena, &run.context->budget);
    ig_status status = run_kernel(&run);
    ig_arena_fini(&run.arena);
    return status;
}
