/* The verbs, in the order of help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/verbs/verbs.h"

#define VERBS(VERB) \
    VERB(compile)   \
    VERB(run)       \
    VERB(verify)    \
    VERB(dump)      \
    VERB(inspect)   \
    VERB(compare)   \
    VERB(quantize)  \
    VERB(train)     \
    VERB(reduce)    \
    VERB(replay)    \
    VERB(opt)       \
    VERB(bench)     \
    VERB(profile)   \
    VERB(store)     \
    VERB(shard)     \
    VERB(reshard)   \
    VERB(serve)     \
    VERB(worker)    \
    VERB(load)      \
    VERB(strip)     \
    VERB(cache)     \
    VERB(info)

#define DECLARE(name) extern const verb verb_##name;
VERBS(DECLARE)
#undef DECLARE

const verb *const verbs[] = {
#define LIST_VERB(name) &verb_##name,
    VERBS(LIST_VERB)
#undef LIST_VERB
        NULL,
};
