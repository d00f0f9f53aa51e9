/* dce: removes ops that nobody needs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = relu %x : f32[4]
 *     %1 = neg %0 : f32[4]          (neither is used)
 *     return %x
 *   becomes
 *     return %x
 *
 * Guards and ops that touch state stay, and so does what holds them.
 *
 * Keeps: everything that is left.
 */
#include "passes/dead.h"
#include "passes/pass.h"

ig_status ig_pass_dce(ig_pass_run *run, ig_graph *graph) {
    run->changed = ig_block_sweep(&graph->body);
    return IG_OK;
}
