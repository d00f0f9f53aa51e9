/* Runs the steps of a bound session.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One function per kind of step; each returns with the step and its bodies submitted.
 * A late step is resolved right before it runs; everything else was resolved when the
 * shape was planned, so that a launch costs a few stores and the call.
 *
 * Buffers are the device's: all access to them is work in the session's queue.  The run
 * waits where the host itself needs a value: conditions, trips, late symbols, host
 * steps, outputs.  Errors of kernels are known at the latest then.
 */
#include "runtime/session/session.h"

#include "base/platform/clock.h"
#include "base/platform/platform_cpu.h"

#include <assert.h>
#include <stdio.h>

static ig_status run_steps(ig_session *session, uint32_t begin, uint32_t end);

/* ---- stopping ---- */

static ig_status stop_if_due(ig_session *session) {
    if (atomic_load_explicit(&session->state, memory_order_relaxed) ==
        IG_RUN_CANCELLED) {
        return ig_message_set(&session->message, IG_CANCELLED, "the run was cancelled");
    }
    if (session->stop_at_ns > 0 && ig_clock_ns() >= session->stop_at_ns) {
        return ig_message_set(&session->message, IG_CANCELLED,
                              "the run passed its deadline of %lld ns",
                              (long long)session->deadline_ns);
    }
    return IG_OK;
}

static inline ig_status poll_stop(ig_session *session) {
    bool may_stop = session->stop_at_ns > 0 ||
                    atomic_load_explicit(&session->state, memory_order_relaxed) ==
                        IG_RUN_CANCELLED;
    return may_stop ? stop_if_due(session) : IG_OK;
}

/* ---- operands of steps that the runtime itself does ---- */

static ig_status reaches_outside(ig_session *session, uint32_t index) {
    char where[IG_WHERE_BYTES];
    return ig_message_set(&session->message, IG_INVALID,
                          "%s: it reads or writes outside of a buffer: the "
                          "sizes that the run has found do not fit together",
                          ig_session_where(session, index, where));
}

/* Address of operand `index` when `bytes` more bytes are there, else NULL. */
static inline char *operand_at(const ig_session *session, uint32_t step, uint32_t index,
                               int64_t bytes) {
    const ig_plan_range operands = session->plan->steps[step].operands;
    uint32_t slot = session->program->execs[step].slot + index;
    assert(index < operands.count && "the step's kind has no such operand");
    uint32_t buffer = session->plan->operands[operands.first + index].buffer;
    assert(buffer != IG_NONE && "an absent operand has no address");
    assert(session->shape->slot_strides[slot] != IG_WORKER_STRIDE &&
           "a worker's buffer is used outside of rows");
    int64_t held = session->bytes[buffer] - session->shape->slot_offsets[slot];
    return bytes >= 0 && bytes <= held ? session->shape->slots[slot] : NULL;
}

/* The first bytes of an operand, and the errors of kernels up to here. */
static inline ig_status read_operand(ig_session *session, uint32_t step, uint32_t index,
                                     void *out_value, int64_t bytes) {
    const char *at = operand_at(session, step, index, bytes);
    if (!at) {
        return reaches_outside(session, step);
    }
    IG_TRY(ig_queue_read(session->queue, out_value, at, bytes));
    return ig_session_check_report(session);
}

/* Buffers without a size for these extents are refused here, with the message of their
 * planning. */
static ig_status resolve_late(ig_session *session, uint32_t index) {
    if (session->program->execs[index].is_late || session->shape->is_partial) {
        IG_TRY(ig_session_resolve(session, index));
        ig_session_patch_step(session, index);
    }
    return IG_OK;
}

static ig_status value_of(ig_session *session, uint32_t index, uint32_t expr,
                          int64_t *out_value) {
    return ig_plan_evaluate(session->plan, expr, session->symbols, out_value)
               ? IG_OK
               : reaches_outside(session, index);
}

/* A late symbol has a new value: definitions over it follow. */
static ig_status set_symbol(ig_session *session, uint32_t symbol, int64_t value) {
    assert(session->plan->symbols[symbol].kind == IG_SYMBOL_LATE &&
           "only late symbols change in a run");
    session->symbols[symbol] = value;
    return ig_session_define(session, true);
}

/* ---- launches ---- */

static ig_status run_phase(ig_session *session, uint32_t first, uint32_t begin,
                           uint32_t end) {
    const ig_exec *exec = &session->program->execs[first];
    assert(exec->launch < session->program->launch_count && "a phase was not counted");
    IG_TRY(poll_stop(session));
    if (exec->has_late || session->shape->is_partial) {
        for (uint32_t i = begin; i < end; i++) {
            IG_TRY(resolve_late(session, i));
        }
        ig_session_split(session, first);
    }
    ig_queue *queue = session->queue;
    IG_TRY(queue->verbs->submit(queue, &session->shape->phases[exec->launch]));
    return ig_session_check_report(session);
}

static ig_status run_launch(ig_session *session, uint32_t index) {
    uint32_t count = session->program->execs[index].phase_count;
    return run_phase(session, index, index, index + count);
}

static ig_status run_rows(ig_session *session, uint32_t index) {
    return run_phase(session, index, index, session->program->execs[index].end);
}

/* Waits until the host can see all that was submitted. */
static ig_status settle_queue(ig_session *session) {
    IG_TRY(ig_queue_finish(session->queue));
    return ig_session_check_report(session);
}

static ig_status refuse_host(ig_session *session, uint32_t index, ig_status status,
                             const char *reason) {
    char where[IG_WHERE_BYTES];
    ig_session_where(session, index, where);
    return ig_message_set(&session->message, status, "%s: %s", where,
                          reason[0] ? reason
                                    : "its buffers are smaller than the plan says");
}

static bool call_function(ig_session *session, uint32_t index,
                          const ig_host_call *call) {
    const ig_exec *exec = &session->program->execs[index];
    if (exec->host) {
        return exec->host(call);
    }
    const ig_plan *plan = session->plan;
    assert(session->ranks && "creating a session looks for them");
    return session->ranks->call(
        session->ranks,
        ig_plan_string(plan, plan->hosts[plan->steps[index].index].name), call);
}

/* A host step has no rows, so slot_strides is room for the sizes of its buffers. */
static ig_status run_host(ig_session *session, uint32_t index) {
    const ig_exec *exec = &session->program->execs[index];
    const ig_plan_step *step = &session->plan->steps[index];
    ig_shape *shape = session->shape;
    IG_TRY(poll_stop(session));
    IG_TRY(resolve_late(session, index));
    IG_TRY(settle_queue(session));
    int64_t *bytes = shape->slot_strides + exec->slot;
    for (uint32_t i = 0; i < step->operands.count; i++) {
        const ig_plan_operand *operand =
            &session->plan->operands[step->operands.first + i];
        int64_t held = session->bytes[operand->buffer] -
                       shape->slot_offsets[exec->slot + i];
        bytes[i] = held > 0 ? held : 0;
    }
    ig_kernel_report_v0 report = { .operand = -1 };
    char reason[IG_HOST_REASON_BYTES] = "";
    ig_status status = IG_INVALID;
    ig_host_call call = {
        .buffers = shape->slots + exec->slot,
        .bytes = bytes,
        .params = shape->params + exec->param,
        .buffer_count = step->operands.count,
        .param_count = exec->variant->params.count,
        .output_count = step->outs,
        .closure = exec->closure,
        .texts = &session->texts,
        .run = session->runs,
        .report = &report,
        .reason = reason,
        .status = &status,
    };
    const ig_staging *staging = session->staging;
    IG_TRY(staging ? staging->fetch(session, index, &call) : IG_OK);
    if (!call_function(session, index, &call)) {
        return refuse_host(session, index, status, reason);
    }
    IG_TRY(staging ? staging->store(session, index, &call) : IG_OK);
    return report.operand < 0 ? IG_OK : ig_session_report(session, index, 0, &report);
}

/* ---- control ---- */

static ig_status run_if(ig_session *session, uint32_t index) {
    const ig_plan_step *step = &session->plan->steps[index];
    char condition;
    IG_TRY(resolve_late(session, index));
    IG_TRY(read_operand(session, index, 0, &condition, sizeof condition));
    uint32_t then = index + 1, other = then + step->body_count;
    assert(other + step->else_count == session->program->execs[index].end &&
           "the branches of an if are its steps");
    return condition ? run_steps(session, then, other)
                     : run_steps(session, other, other + step->else_count);
}

/* Trips of a loop: operand 0, when there is one and it is not negative. */
static ig_status count_trips(ig_session *session, uint32_t index, int64_t *out_trips) {
    uint32_t operand = session->plan->steps[index].operands.first;
    *out_trips = INT64_MAX;
    if (session->plan->operands[operand].buffer == IG_NONE) {
        return IG_OK;
    }
    int64_t trips;
    IG_TRY(read_operand(session, index, 0, &trips, sizeof trips));
    *out_trips = trips < 0 ? INT64_MAX : trips;
    return IG_OK;
}

static ig_status may_go_on(ig_session *session, uint32_t index, bool *out_goes) {
    uint32_t operand = session->plan->steps[index].operands.first + 1;
    *out_goes = true;
    if (session->plan->operands[operand].buffer == IG_NONE) {
        return IG_OK;
    }
    char condition;
    IG_TRY(read_operand(session, index, 1, &condition, sizeof condition));
    *out_goes = condition != 0;
    return IG_OK;
}

static ig_status run_loop(ig_session *session, uint32_t index) {
    const ig_plan_step *step = &session->plan->steps[index];
    int64_t trips;
    IG_TRY(resolve_late(session, index));
    IG_TRY(count_trips(session, index, &trips));
    for (int64_t trip = 0; trip < trips; trip++) {
        bool goes;
        IG_TRY(poll_stop(session));
        IG_TRY(may_go_on(session, index, &goes));
        if (!goes) {
            break;
        }
        IG_TRY(set_symbol(session, step->symbol, trip));
        IG_TRY(run_steps(session, index + 1, index + 1 + step->body_count));
    }
    return IG_OK;
}

static ig_status run_guard(ig_session *session, uint32_t index) {
    ig_status status = ig_session_check_guard(session,
                                              session->plan->steps[index].index);
    if (status != IG_OK && session->plan->steps[index].source.size > 0) {
        char where[IG_WHERE_BYTES], said[IG_ERROR_BYTES];
        (void)snprintf(said, sizeof said, "%s", session->error);
        return ig_message_set(&session->message, status, "%s: %s",
                              ig_session_where(session, index, where), said);
    }
    return status;
}

/* ---- data ---- */

static ig_status run_copy(ig_session *session, uint32_t index) {
    int64_t bytes;
    IG_TRY(resolve_late(session, index));
    IG_TRY(value_of(session, index, session->plan->steps[index].value, &bytes));
    char *to = operand_at(session, index, 0, bytes);
    const char *from = operand_at(session, index, 1, bytes);
    if (!to || !from) {
        return reaches_outside(session, index);
    }
    return ig_queue_copy(session->queue, IG_COPY_WITHIN, to, from, bytes);
}

static ig_status run_store(ig_session *session, uint32_t index) {
    const ig_plan_range values = session->plan->steps[index].values;
    IG_TRY(resolve_late(session, index));
    char *to = operand_at(session, index, 0, (int64_t)values.count * 8);
    if (!to) {
        return reaches_outside(session, index);
    }
    for (uint32_t i = 0; i < values.count; i++, to += sizeof(int64_t)) {
        int64_t value;
        IG_TRY(
            value_of(session, index, session->plan->lists[values.first + i], &value));
        IG_TRY(ig_queue_copy(session->queue, IG_COPY_IN, to, &value, sizeof value));
        IG_TRY(ig_queue_finish(session->queue)); /* `value` does not outlive this */
    }
    return IG_OK;
}

static ig_status run_set(ig_session *session, uint32_t index) {
    const ig_plan_step *step = &session->plan->steps[index];
    int64_t value;
    IG_TRY(value_of(session, index, step->value, &value));
    return set_symbol(session, step->symbol, value);
}

static ig_status run_read(ig_session *session, uint32_t index) {
    const ig_plan_step *step = &session->plan->steps[index];
    const ig_plan_symbol *symbol = &session->plan->symbols[step->symbol];
    int64_t value;
    IG_TRY(resolve_late(session, index));
    IG_TRY(read_operand(session, index, 0, &value, sizeof value));
    if (value < symbol->min || value > symbol->max) {
        char where[IG_WHERE_BYTES];
        const char *origin = ig_plan_string(session->plan, symbol->origin);
        return ig_message_set(&session->message, IG_INVALID,
                              "%s: %s is %lld; it must be from %lld to %lld",
                              ig_session_where(session, index, where),
                              origin[0] ? origin : "a size", (long long)value,
                              (long long)symbol->min, (long long)symbol->max);
    }
    return set_symbol(session, step->symbol, value);
}

/* No rank writes unless all of them will. */
static ig_status agree_with_ranks(ig_session *session) {
    ig_ranks *ranks = session->ranks;
    char reason[IG_HOST_REASON_BYTES] = "";
    ig_status status = ranks ? ranks->agree(ranks, reason) : IG_OK;
    return status == IG_OK ? IG_OK
                           : ig_message_set(&session->message, status,
                                            "the ranks do not all commit: %s", reason);
}

/* From here on inputs are written in place, so whatever can fail or stop the run has
 * its last chance now. */
static ig_status run_commit(ig_session *session, uint32_t index) {
    (void)index;
    IG_TRY(settle_queue(session));
    IG_TRY(stop_if_due(session));
    int active = IG_RUN_ACTIVE;
    if (!atomic_compare_exchange_strong(&session->state, &active, IG_RUN_COMMITTED)) {
        return stop_if_due(session);
    }
    session->stop_at_ns = 0;
    return agree_with_ranks(session);
}

/* Values that a run has prepared stay for the next ones. */
static ig_status run_prepare(ig_session *session, uint32_t index) {
    uint32_t end = session->program->execs[index].end;
    return session->is_prepared ? IG_OK : run_steps(session, index + 1, end);
}

/* ---- all steps ---- */

ig_step_fn *const ig_session_steps[IG_STEP_COUNT] = {
#define RUN_STEP(name, meaning) [IG_STEP_##name] = run_##name,
    IG_PLAN_STEPS(RUN_STEP)
#undef RUN_STEP
};

static ig_status run_steps(ig_session *session, uint32_t begin, uint32_t end) {
    const ig_exec *execs = session->program->execs;
    const ig_plan_step *steps = session->plan->steps;
    assert(end <= session->plan->steps_count && "a body reaches past the last step");
    for (uint32_t i = begin; i < end;) {
        uint32_t kind = steps[i].kind;
        assert((kind != IG_STEP_launch || execs[i].phase_count > 0) &&
               "a launch in the middle of a phase is not run by itself");
        IG_TRY(session->run_steps[kind](session, i));
        i = kind == IG_STEP_launch ? i + execs[i].phase_count : execs[i].end;
    }
    return IG_OK;
}

/* ---- outputs ---- */

/* Copies an output from a buffer that is not its own. */
static ig_status copy_output(ig_session *session, uint32_t index, int64_t bytes) {
    uint32_t buffer = session->plan->outputs[index].buffer;
    const ig_output *output = &session->outputs[index];
    if (session->bytes[buffer] < bytes) {
        return ig_message_set(
            &session->message, IG_INVALID,
            "output '%s' needs %lld bytes, but its buffer has %lld",
            ig_plan_string(session->plan, session->plan->outputs[index].name),
            (long long)bytes, (long long)session->bytes[buffer]);
    }
    bool is_far = output->is_shadowed || ig_session_is_far(session, index);
    ig_copy_kind kind = is_far ? IG_COPY_WITHIN : IG_COPY_OUT;
    char *to = output->is_shadowed ? output->shadow.data : output->target;
    if (to == session->bases[buffer]) {
        return IG_OK; /* it was written there */
    }
    return ig_queue_copy(session->queue, kind, to, session->bases[buffer], bytes);
}

/* Extents that the run found out. */
static ig_status finish_late_output(ig_session *session, uint32_t index) {
    IG_TRY(ig_session_size_output(session, index));
    int64_t bytes = session->shape->output_bytes[index];
    session->shape->output_bytes[index] = -1;
    IG_TRY(ig_session_place_output(session, index, bytes));
    ig_session_describe_output(session, index);
    assert(!session->outputs[index].is_shadowed && "a late output has no shadow");
    return copy_output(session, index, bytes);
}

/* Outputs in another buffer: an input, a constant, another output. */
static ig_status finish_output(ig_session *session, uint32_t index) {
    int64_t bytes = session->shape->output_bytes[index];
    bool is_written = bytes <= 0 || ig_plan_has_own_buffer(session->plan, index) ||
                      ig_plan_is_in_place(session->plan, index);
    return is_written ? IG_OK : copy_output(session, index, bytes);
}

static ig_status copy_shadow(ig_session *session, uint32_t index) {
    const ig_output *output = &session->outputs[index];
    ig_copy_kind kind = ig_session_is_far(session, index) ? IG_COPY_WITHIN
                                                          : IG_COPY_OUT;
    return ig_queue_copy(session->queue, kind, output->target, output->shadow.data,
                         session->shape->output_bytes[index]);
}

/* In an order that allows outputs to share memory with inputs: copies from an input
 * come before anything is written over it. */
static ig_status copy_outputs(ig_session *session) {
    uint32_t count = session->plan->outputs_count;
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(finish_output(session, i));
    }
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(session->outputs[i].is_shadowed ? copy_shadow(session, i) : IG_OK);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool is_late = session->shape->output_bytes[i] < 0;
        IG_TRY(is_late ? finish_late_output(session, i) : IG_OK);
    }
    return IG_OK;
}

/* ---- runs ---- */

ig_status ig_session_walk(ig_session *session) {
    return run_steps(session, 0, session->plan->steps_count);
}

static ig_status run_all(ig_session *session) {
    const ig_staging *staging = session->staging;
    IG_TRY((staging ? staging->run : ig_session_walk)(session));
    if (!session->program->writes_outputs || session->has_shadows) {
        IG_TRY(copy_outputs(session)); /* else kernels wrote them where they belong */
    }
    IG_TRY(settle_queue(session));
    if (staging) {
        staging->finish(session);
    }
    if (session->plan->states_count > 0) {
        ig_session_commit_state(session);
    }
    return IG_OK;
}

ig_status ig_session_tell_ranks(ig_session *session, ig_status status) {
    assert((session->ranks || !session->program->needs_ranks) && "no ranks given");
    if (status != IG_OK && session->ranks) {
        session->ranks->leave(session->ranks);
    }
    return status;
}

static ig_status run_bound(ig_session *session) {
    if (!session->is_bound) {
        return ig_message_set(
            &session->message, IG_INVALID,
            "nothing is bound: the last bind failed, or there was none");
    }
    if (session->is_stale) {
        IG_TRY(ig_session_rebind(session));
    }
    ig_texts_forget(&session->texts);
    ig_queue *queue = session->queue;
    assert(session->shape && "bound without a shape");
    assert(!queue->has_report && "the last run left a report");
    int idle = IG_RUN_IDLE; /* else it was started, and perhaps cancelled since */
    (void)atomic_compare_exchange_strong(&session->state, &idle, IG_RUN_ACTIVE);
    session->stop_at_ns = session->deadline_ns > 0
                              ? ig_clock_ns() + session->deadline_ns
                              : 0;
    uint32_t env = ig_float_env_enter();
    ig_queue_claim(queue, session->shape->pool_ns);
    ig_status status = run_all(session);
    if (status != IG_OK) {
        (void)ig_queue_finish(queue); /* of work that was submitted before the error */
        queue->has_report = false;
    }
    session->is_prepared = status == IG_OK && !session->program->writes_weights;
    ig_queue_release(queue);
    ig_float_env_leave(env);
    session->runs++;
    atomic_store_explicit(&session->state, IG_RUN_IDLE, memory_order_relaxed);
    return ig_session_tell_ranks(session, status);
}

ig_status ig_session_run_now(ig_session *session) {
    ig_capture *capture = session->capture;
    if (!capture) {
        return run_bound(session);
    }
    capture->before(capture, session);
    ig_status status = run_bound(session);
    capture->after(capture, session, status);
    return status;
}

ig_status ig_session_run_bound(ig_session *session) {
    IG_TRY(ig_session_check_waited(session));
    return ig_session_run_now(session);
}

ig_status ig_session_run(ig_session *session, const ig_view *inputs, size_t input_count,
                         ig_view *outputs, size_t output_count) {
    IG_TRY(ig_session_check_waited(session));
    ig_status status = ig_session_bind(session, inputs, input_count, outputs,
                                       output_count);
    return status == IG_OK ? ig_session_run_now(session)
                           : ig_session_tell_ranks(session, status);
}
