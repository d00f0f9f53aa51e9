/* Schedules of learning rates: --schedule.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     constant              rates as the optimizers say
 *     linear:N              rising over N steps
 *     step:N:FACTOR         times FACTOR after each N steps
 *     cosine:N              down to 0 after N steps
 */
#ifndef IG_TOOLS_INGOT_TRAIN_SCHEDULE_H
#define IG_TOOLS_INGOT_TRAIN_SCHEDULE_H

#include <stdbool.h>

typedef struct schedule {
    char kind; /* of its name; 'x': a step */
    double count, factor;
} schedule;

/* NULL: constant.  False after a message. */
bool schedule_read(const char *text, schedule *out);
/* What step number `step`, from 0 on, has of the rates. */
double schedule_share(const schedule *s, double step);

#endif
