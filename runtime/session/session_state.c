/* State: the values that a session keeps from one run to the next.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A state is an input and an output of the plan that callers do not see.  The output is
 * in the session's own memory, which is never the input's memory (session_bind.c keeps
 * two regions and swaps them), so a run that fails leaves the old value as it was.
 * Committing makes the output's view the next input.
 */
#include "runtime/session/session.h"

#include "ingot/runtime.h"

#include <assert.h>

static ig_view *state_inputs(ig_session *session) {
    return session->given + ig_session_callers(session, session->plan->inputs_count);
}

void ig_session_reset(ig_session *session) {
    const ig_plan *plan = session->plan;
    uint32_t first = ig_session_callers(session, plan->inputs_count);
    for (uint32_t i = 0; i < plan->states_count; i++) {
        const ig_plan_state *state = &plan->states[i];
        ig_view *view = &state_inputs(session)[i];
        *view = (ig_view){
            .data = (void *)(uintptr_t)session->program->resident[state->constant],
            .dtype = (int32_t)plan->inputs[first + i].dtype,
            .rank = state->rank
        };
        for (uint32_t d = 0; d < state->rank; d++) {
            view->dims[d] = state->dims[d];
        }
    }
    session->is_stale = plan->states_count > 0;
}

void ig_session_give_state(ig_session *session) {
    assert((session->state_outputs || !session->plan->states_count) &&
           "each state has a view");
    for (uint32_t i = 0; i < session->plan->states_count; i++) {
        session->state_outputs[i] = (ig_view){ 0 };
    }
    session->is_stale = false;
}

void ig_session_commit_state(ig_session *session) {
    for (uint32_t i = 0; i < session->plan->states_count; i++) {
        ig_view *view = &state_inputs(session)[i];
        assert((session->state_outputs[i].data != view->data ||
                ig_view_bytes(view) == 0) &&
               "a state was written over its old value");
        *view = session->state_outputs[i];
        view->capacity = 0;
    }
    session->is_stale = true;
}
