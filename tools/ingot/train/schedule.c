/* Schedules of learning rates: see schedule.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/schedule.h"

#include "tools/ingot/cli/console.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool schedule_read(const char *text, schedule *out) {
    double count = 0, factor = 0;
    char end;
    *out = (schedule){ 'c', 0, 1 };
    if (!text || strcmp(text, "constant") == 0) {
        return true;
    }
    if (sscanf(text, "linear:%lf%c", &count, &end) == 1 && count >= 1) {
        *out = (schedule){ 'l', count, 1 };
        return true;
    }
    if (sscanf(text, "step:%lf:%lf%c", &count, &factor, &end) == 2 && count >= 1) {
        *out = (schedule){ 'x', count, factor };
        return true;
    }
    if (sscanf(text, "cosine:%lf%c", &count, &end) == 1 && count >= 1) {
        *out = (schedule){ 'o', count, 1 };
        return true;
    }
    complain(0, "--schedule %s: expected constant, linear:N, step:N:FACTOR or cosine:N",
             text);
    return false;
}

double schedule_share(const schedule *s, double step) {
    double done = s->count > 0 ? step / s->count : 0;
    switch (s->kind) {
    case 'l':
        return done < 1 ? (step + 1) / s->count : 1;
    case 'x':
        return pow(s->factor, floor(done));
    case 'o':
        return done < 1 ? 0.5 * (1 + cos(acos(-1) * done)) : 0;
    default:
        return 1;
    }
}
