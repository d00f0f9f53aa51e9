/* Lanes.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/batch/lane.h"

bool lane_is_ready(const lane *of) {
    return !of->is_draining && repository_is_ready(of->repository);
}

bool lane_follow(lane *of) {
    if (!of->repository) {
        return false;
    }
    unsigned newest = repository_generation(of->repository);
    if (of->catalog && newest == of->generation) {
        return true;
    }
    if (of->catalog) {
        repository_give_back(of->repository, of->catalog);
    }
    of->generation = newest;
    of->catalog = repository_take(of->repository);
    return true;
}

void lane_end(lane *of) {
    if (of->catalog) {
        repository_give_back(of->repository, of->catalog);
    }
    of->catalog = NULL;
    of->repository = NULL;
}
