/* The models in a folder now.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_LOOK_H
#define IG_TOOLS_SERVE_MODEL_LOOK_H

#include "tools/serve/model/config.h"

/* The facts that tell one state of a file from another. */
typedef struct stamp {
    int64_t size, changed_ns, inode, device;
} stamp;

typedef struct found_version {
    int64_t id;
    char *path; /* of its model file; NULL: there is none */
    stamp model, config, script;
} found_version;

typedef struct found_model {
    char *name;
    char *config; /* text, or NULL */
    size_t config_size;
    char *reason;            /* why nothing of it can be read, or NULL */
    found_version *versions; /* newest first */
    size_t count;
} found_model;

typedef struct found_list {
    found_model *models; /* by name */
    size_t count;
} found_list;

/* Adds the models of a place: a folder of models, or the file of one (version 1), which
 * is called `name`, or as its file (of "x/model.onnx": as its folder). */
void look_at(const char *path, const char *name, found_list *out);
void look_free(found_list *of);
bool stamps_equal(const stamp *a, const stamp *b);
/* A name that is one folder's: no path, nothing hidden. */
bool is_model_name(const char *name);

#endif
