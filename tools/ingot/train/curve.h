/* A learning curve as a picture.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_TRAIN_CURVE_H
#define IG_TOOLS_INGOT_TRAIN_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes losses of the steps from `first` on as SVG: each, and means of 50.  Losses
 * that are not finite are left out.  False after a message. */
bool curve_write(const char *path, const double *losses, size_t count, int64_t first);

#endif
