/* The default bounds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"

const ig_limits ig_limits_default = {
#define LIMIT_VALUE(field, value, meaning) .field = value,
    IG_LIMIT_LIST(LIMIT_VALUE)
#undef LIMIT_VALUE
};
