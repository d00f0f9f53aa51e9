/* Kinds of cases that only tests of Ingot have.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_IGCHECK_CASES_KINDS_H
#define IG_TOOLS_IGCHECK_CASES_KINDS_H

#include "tools/ingot/verify/verify.h"

/* ---- sharded.c: folders of sharded collections ---- */

bool is_sharded_case(const char *folder);
outcome check_sharded_case(verification *v, const char *folder);

/* ---- planned.c: files of planners ---- */

bool is_planned_case(const char *path);
outcome check_planned_case(verification *v, const char *path);

/* ---- gradients.c: folders of gradients ---- */

bool is_gradient_case(const char *folder);
outcome check_gradient_case(verification *v, const char *folder);

/* ---- updates.c: folders of optimizers' steps ---- */

bool is_update_case(const char *folder);
outcome check_update_case(verification *v, const char *folder);

/* ---- tutorial.c: folders of two losses ---- */

bool is_tutorial_case(const char *folder);
outcome check_tutorial_case(verification *v, const char *folder);

/* ---- checkpoints.c: folders of checkpoints ---- */

bool is_checkpoint_case(const char *folder);
outcome check_checkpoint_case(verification *v, const char *folder);

/* ---- curves.c: folders of learning curves ---- */

bool is_curve_case(const char *folder);
outcome check_curve_case(verification *v, const char *folder);

/* ---- trained_ranks.c: folders of ranks that train together ---- */

bool is_ranks_case(const char *folder);
outcome check_ranks_case(verification *v, const char *folder);

#endif
