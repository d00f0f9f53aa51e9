/* A program that links relu.ig as the model "small".
 * SPDX-License-Identifier: Apache-2.0 */
#include "small.h"

#include <stdio.h>

int main(void) {
    char message[200] = "";
    float x[4] = { -1, 2, -3, 4 };
    ig_program *program = NULL;
    ig_session *session = NULL;
    ig_program_options options = { .size = sizeof options,
                                   .message = message,
                                   .message_size = sizeof message };
    ig_view in = { .data = x, .dtype = IG_F32, .rank = 2, .dims = { 1, 4 } };
    ig_view out = { 0 };
    if (ingot_small_open(&options, &program) ||
        ig_session_create(program, NULL, &session) ||
        ingot_small_run(session, &in, &out)) {
        puts(message);
        return 1;
    }
    const float *y = out.data;
    printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
    ig_session_destroy(session);
    ig_program_close(program);
    return 0;
}
