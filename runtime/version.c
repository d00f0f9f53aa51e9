/* About this build.  SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"
#include "ingot/runtime.h"

const char *ig_runtime_version(void) {
    return INGOT_VERSION;
}

const char *ig_status_text(ig_status status) {
    return ig_status_name(status);
}
