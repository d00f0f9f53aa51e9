/* How an artifact names the files that it refers to.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_ARTIFACT_REFERENCE_H
#define IG_DRIVER_ARTIFACT_REFERENCE_H

#include "base/arena.h"

/* Relative to the artifact's folder where the file is beneath it, so that both can be
 * moved together; else absolute.  `artifact` NULL: absolute. */
const char *ig_reference_path(ig_arena *arena, const char *artifact, const char *file);

#endif
