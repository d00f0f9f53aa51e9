/* What libingot-watch hands to the runtime.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/watch/watch.h"

#include <string.h>

static const ig_watch watch = { ig_watch_sanitized_steps, ig_watch_profile };

const ig_watch *ig_watch_find(const ig_watched *watched) {
    bool is_same = watched->session_size == sizeof(ig_session) &&
                   watched->program_size == sizeof(ig_program) &&
                   strcmp(watched->version, INGOT_VERSION) == 0;
    return is_same ? &watch : NULL;
}
