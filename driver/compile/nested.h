/* Artifacts that hold artifacts: models that are several programs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_COMPILE_NESTED_H
#define IG_DRIVER_COMPILE_NESTED_H

#include "driver/artifact/write.h"
#include "driver/compile/compile.h"

typedef struct ig_nested {
    const char *what; /* for messages: "a model whose tables are in stores" */
    const char *path; /* of the artifact */
    ig_compilation *outer;
    ig_compilation *inner;    /* `inner_count` */
    const char *const *names; /* their entries in the artifact of `outer` */
    size_t inner_count;
    const ig_artifact_entry *more; /* further entries, or NULL */
    size_t more_count;
} ig_nested;

/* Compiles all of them, which ig_compilation_init made and the caller finishes, and
 * publishes the artifact.  Kernels come from the cache, artifacts do not.  Errors:
 * IG_UNSUPPORTED for another form than an artifact, and in isolation. */
ig_status ig_nested_write(const ig_nested *nested);

#endif
