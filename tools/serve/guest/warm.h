/* The first run of a session.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GUEST_WARM_H
#define IG_TOOLS_SERVE_GUEST_WARM_H

#include <ingot/runtime.h>

/* Runs a session once on zeros, one row, so that the first request finds its memory
 * planned and its weights read.  Its result is nobody's concern: zeros may be no ids of
 * this model. */
void warm_up(const ig_program *of, ig_session *session);

#endif
