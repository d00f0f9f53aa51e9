/* Verifying that checkpoints of torch.distributed are read to the bit.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/case.json          keys, placement
 *     CASE/checkpoint/        as dcp.save writes it, of one rank or several
 *     CASE/expected.npz       its tensors, joined from all ranks
 */
#include "tools/igcheck/cases/fields.h"
#include "tools/igcheck/cases/kinds.h"

#include <stdlib.h>
#include <string.h>

bool is_checkpoint_case(const char *folder) {
    json_t *json = case_load(folder);
    bool is = json_is_object(json_object_get(json, "keys")) &&
              json_is_object(json_object_get(json, "placement"));
    json_decref(json);
    return is;
}

static bool check_tensor(verification *v, const case_arrays *all, const char *name,
                         const ig_argument *want) {
    const ig_argument *got = arrays_find(all, name);
    message why = { "" };
    if (!got) {
        return verify_fail(v, name, "the checkpoint has no such tensor");
    }
    if (!types_agree(got, want, &why)) {
        return verify_fail(v, name, why.text);
    }
    return (got->size == want->size && memcmp(got->data, want->data, got->size) == 0) ||
           verify_fail(v, name, "its bits differ");
}

outcome check_checkpoint_case(verification *v, const char *folder) {
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    ig_arguments *got = NULL;
    case_arrays want = { 0 };
    char *path = text_of("%s/checkpoint", folder);
    bool is_good = arrays_add(v, &want, text_of("%s/expected.npz", folder), NULL) &&
                   (ig_checkpoint_open(v->context, path, &got) == IG_OK ||
                    verify_fail(v, path, NULL));
    case_arrays all = { .files = &got, .names = (char *[]){ NULL }, .count = 1 };
    size_t count = is_good ? ig_arguments_count(want.files[0]) : 0;
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = check_tensor(v, &all, ig_arguments_name(want.files[0], i),
                               ig_arguments_at(want.files[0], i));
    }
    if (is_good) {
        snprintf(v->did, sizeof v->did, "%zu tensors", count);
    }
    ig_arguments_close(got);
    arrays_close(&want);
    free(path);
    return is_good ? PASSED : FAILED;
}
