/* igcheck cases: model cases, as ingot verify has them, and those of other kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/cases/cases.h"

#include "tools/igcheck/cases/kinds.h"
#include "tools/ingot/cli/verb.h"

static const case_kind kinds[] = {
    { is_planned_case, check_planned_case },
    { is_sharded_case, check_sharded_case },
    { is_gradient_case, check_gradient_case },
    { is_update_case, check_update_case },
    { is_curve_case, check_curve_case },
    { is_tutorial_case, check_tutorial_case },
    { is_checkpoint_case, check_checkpoint_case },
    { is_ranks_case, check_ranks_case },
    { 0 },
};

static int run_cases(const settings *given) {
    return verify_run(given, kinds);
}

static const verb verb_cases = {
    .name = "cases",
    .arguments = "CASE_DIR…|GOLDEN.json | --suite DIR",
    .help = "checks cases of every kind",
    .details =
        "Those of ingot verify, and more: a folder of a sharded EmbeddingBagCollection (case.json with a plan, rankR.json) runs all ranks and compares their results; a planner's JSON file (input, best_options) compares plans and estimates with TorchRec's; folders of training compare gradients, optimizers' steps, learning curves, losses and checkpoints.",
    .options = verify_options,
    .min_arguments = 0,
    .max_arguments = 100000,
    .run = run_cases,
};

int cases_main(int argc, char **argv) {
    verb_begin_json(argc, argv);
    return verb_check_output(verb_invoke(&verb_cases, argc, argv));
}
