/* Names of weights as people write them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_VALUES_WEIGHT_H
#define IG_DRIVER_VALUES_WEIGHT_H

#include <stdbool.h>

/* `part` is all of `name`, or is between dots in it. */
bool ig_name_has_part(const char *name, const char *part);

#endif
