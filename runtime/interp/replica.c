/* Replicas: objects that each interpreter makes for itself, over memory of all.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The module ingot_interp does Python's part of it.
 */
#include "runtime/interp/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_ALIGN = 64 };

/* An object of one interpreter, and how many use it or keep it. */
typedef struct replica_copy {
    ig_interp_object *object;
    int holders; /* guarded by the replica's lock */
} replica_copy;

struct ig_interp_replica {
    ig_interp_manager *manager;
    atomic_int holders; /* the caller, and the objects made from it */
    ig_interp_replica *
        *packages; /* that it needs, held; NULL in one that is a package */
    size_t package_count;
    ig_shared *memory;       /* of a package, or a pickle with its buffers */
    ig_interp_value *parts;  /* of the latter: the place of each */
    size_t part_count;       /* 0: a package, or a resource of it */
    char *module, *resource; /* of the package, or NULL */
    int64_t id;              /* of a package */
    pthread_mutex_t lock;
    replica_copy **copies;   /* by interpreter; NULL: not made, or dropped */
    ig_interp_replica *next; /* in the manager's list of packages */
};

/* ---- life cycle ---- */

static ig_status fail_memory(const ig_interp_call *how) {
    ig_interp_call given;
    IG_TRY(ig_interp_call_take(how, &given));
    return ig_interp_fail(&given, IG_LIMIT, "no memory for a replica");
}

static void free_replica(ig_interp_replica *r) {
    for (size_t i = 0; i < r->package_count; i++) {
        ig_interp_replica_free(r->packages[i]);
    }
    ig_shared_drop(r->memory);
    (void)pthread_mutex_destroy(&r->lock);
    free(r->packages);
    free(r->parts);
    free(r->module);
    free(r->resource);
    free(r->copies);
    free(r);
}

/* With room for packages that it holds. */
static ig_interp_replica *make_replica(ig_interp_manager *manager, size_t packages) {
    ig_interp_replica *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    atomic_init(&made->holders, 1);
    made->manager = manager;
    made->copies = calloc(manager->count, sizeof(replica_copy *));
    made->packages = calloc(packages + 1, sizeof(ig_interp_replica *));
    if (!made->copies || !made->packages) {
        free_replica(made);
        return NULL;
    }
    return made;
}

static void hold_package(ig_interp_replica *by, ig_interp_replica *package) {
    atomic_fetch_add(&package->holders, 1);
    by->packages[by->package_count++] = package;
}

/* Packages are found by their numbers while anybody holds them. */
static void list_package(ig_interp_replica *package) {
    ig_interp_manager *manager = package->manager;
    (void)pthread_mutex_lock(&manager->lock);
    package->id = manager->package_id++;
    package->next = manager->packages;
    manager->packages = package;
    (void)pthread_mutex_unlock(&manager->lock);
}

/* The last holder takes it off the list; a search may have become one meanwhile. */
static bool end_package(ig_interp_replica *r) {
    ig_interp_manager *manager = r->manager;
    (void)pthread_mutex_lock(&manager->lock);
    bool is_last = atomic_fetch_sub(&r->holders, 1) == 1;
    ig_interp_replica **at = &manager->packages;
    while (is_last && *at && *at != r) {
        at = &(*at)->next;
    }
    if (is_last && *at) {
        *at = r->next;
    }
    (void)pthread_mutex_unlock(&manager->lock);
    return is_last;
}

static ig_interp_replica *find_package(ig_interp_manager *manager, int64_t id) {
    (void)pthread_mutex_lock(&manager->lock);
    ig_interp_replica *found = manager->packages;
    while (found && found->id != id) {
        found = found->next;
    }
    if (found) {
        atomic_fetch_add(&found->holders, 1);
    }
    (void)pthread_mutex_unlock(&manager->lock);
    return found;
}

static void drop_copy(ig_interp_replica *r, replica_copy *copy) {
    (void)pthread_mutex_lock(&r->lock);
    bool is_last = --copy->holders == 0;
    (void)pthread_mutex_unlock(&r->lock);
    if (is_last) {
        ig_interp_object_free(copy->object);
        free(copy);
    }
}

/* Python's table of packages forgets it too, and its garbage is collected. */
static void forget_package(const ig_interp_replica *r, ig_interp *interp) {
    ig_interp_object *forget = NULL;
    ig_interp_result *result = NULL;
    ig_interp_value id = { .kind = IG_INTERP_INTEGER, .as.integer = r->id };
    ig_interp_arguments arguments = { .values = &id, .count = 1 };
    if (ig_interp_global(interp, NULL, "ingot_interp", "unload_package", &forget) ==
        IG_OK) {
        (void)!ig_interp_invoke(interp, NULL, forget, &arguments, &result);
    }
    ig_interp_result_free(result);
    ig_interp_object_free(forget);
}

static void unload_one(ig_interp_replica *r, uint32_t index) {
    (void)pthread_mutex_lock(&r->lock);
    replica_copy *copy = r->copies[index];
    r->copies[index] = NULL;
    (void)pthread_mutex_unlock(&r->lock);
    if (!copy) {
        return;
    }
    drop_copy(r, copy);
    if (r->part_count == 0 && !r->module) {
        forget_package(r, r->manager->interps[index]);
    }
}

void ig_interp_unload(ig_interp_replica *replica, int64_t index) {
    for (uint32_t i = 0; i < replica->manager->count; i++) {
        if (index < 0 || index == (int64_t)i) {
            unload_one(replica, i);
        }
    }
}

void ig_interp_replica_free(ig_interp_replica *replica) {
    if (replica && end_package(replica)) {
        ig_interp_unload(replica, -1);
        free_replica(replica);
    }
}

/* ---- an interpreter's own ---- */

/* Calls a function of ingot_interp; the object is its result. */
static ig_status make_by(ig_interp *interp, const ig_interp_call *how, const char *name,
                         const ig_interp_arguments *arguments,
                         ig_interp_object **out_object) {
    ig_interp_object *function = NULL;
    *out_object = NULL;
    IG_TRY(ig_interp_global(interp, how, "ingot_interp", name, &function));
    ig_status status = ig_interp_make(interp, how, function, arguments, out_object);
    ig_interp_object_free(function);
    return status;
}

static ig_interp_value text_value(const char *text) {
    return (ig_interp_value){ .kind = IG_INTERP_TEXT,
                              .as.text = { text, strlen(text) } };
}

static ig_interp_value shared_value(const ig_shared *shared) {
    return (ig_interp_value){ .kind = (ig_interp_kind)IG_ENGINE_SHARED,
                              .as.text.data = (const char *)shared };
}

/* This interpreter's object, held until drop_copy.  The caller has the interpreter. */
static ig_status take_copy(ig_interp_replica *r, const ig_interp_call *how,
                           ig_interp *interp, replica_copy **out_copy);

static ig_status make_package(ig_interp_replica *r, const ig_interp_call *how,
                              ig_interp *interp, ig_interp_object **out_object) {
    ig_interp_value values[] = {
        { .kind = IG_INTERP_INTEGER, .as.integer = r->id },
        shared_value(r->memory),
    };
    return make_by(interp, how, "load_package",
                   &(ig_interp_arguments){ .values = values, .count = 2 }, out_object);
}

static ig_status make_resource(ig_interp_replica *r, const ig_interp_call *how,
                               ig_interp *interp, ig_interp_object **out_object) {
    replica_copy *package = NULL;
    IG_TRY(take_copy(r->packages[0], how, interp, &package));
    ig_interp_value values[] = {
        { .kind = IG_INTERP_OBJECT, .as.object = package->object },
        text_value(r->module),
        text_value(r->resource),
    };
    ig_status status = make_by(interp, how, "load_pickle",
                               &(ig_interp_arguments){ .values = values, .count = 3 },
                               out_object);
    drop_copy(r->packages[0], package);
    return status;
}

/* The packages come first: the pickle names them by their numbers. */
static ig_status make_pickled(ig_interp_replica *r, const ig_interp_call *how,
                              ig_interp *interp, ig_interp_object **out_object) {
    for (size_t i = 0; i < r->package_count; i++) {
        replica_copy *package = NULL;
        IG_TRY(take_copy(r->packages[i], how, interp, &package));
        drop_copy(r->packages[i], package);
    }
    ig_interp_value values[] = { shared_value(r->memory), { .kind = IG_INTERP_LIST } };
    values[1].as.list.items = r->parts;
    values[1].as.list.count = r->part_count;
    return make_by(interp, how, "load",
                   &(ig_interp_arguments){ .values = values, .count = 2 }, out_object);
}

static ig_status make_object(ig_interp_replica *r, const ig_interp_call *how,
                             ig_interp *interp, ig_interp_object **out_object) {
    return r->part_count > 0 ? make_pickled(r, how, interp, out_object)
           : r->module       ? make_resource(r, how, interp, out_object)
                             : make_package(r, how, interp, out_object);
}

/* NULL: there is none, or its process has ended. */
static replica_copy *find_copy(ig_interp_replica *r, const ig_interp *interp) {
    const ig_engine *engine = interp->engine;
    (void)pthread_mutex_lock(&r->lock);
    replica_copy *found = r->copies[interp->index], *gone = NULL;
    if (found && engine->is_alive && !engine->is_alive(interp->state, found->object)) {
        r->copies[interp->index] = NULL;
        gone = found;
        found = NULL;
    }
    if (found) {
        found->holders++;
    }
    (void)pthread_mutex_unlock(&r->lock);
    if (gone) {
        drop_copy(r, gone);
    }
    return found;
}

static ig_status take_copy(ig_interp_replica *r, const ig_interp_call *how,
                           ig_interp *interp, replica_copy **out_copy) {
    *out_copy = find_copy(r, interp);
    if (*out_copy) {
        return IG_OK;
    }
    replica_copy *made = calloc(1, sizeof *made);
    if (!made) {
        return fail_memory(how);
    }
    ig_status status = make_object(r, how, interp, &made->object);
    if (status != IG_OK) {
        free(made);
        return status;
    }
    made->holders = 2; /* the table's and the caller's */
    (void)pthread_mutex_lock(&r->lock);
    r->copies[interp->index] = made;
    (void)pthread_mutex_unlock(&r->lock);
    *out_copy = made;
    return IG_OK;
}

static ig_status check_engine(const ig_interp_manager *manager,
                              const ig_interp_call *given) {
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given, &how));
    const ig_engine *engine = manager->interps[0]->engine;
    return engine->has_packages
               ? IG_OK
               : ig_interp_fail(&how, IG_UNSUPPORTED,
                                "interpreters of '%s' have no packages and pickles",
                                engine->name);
}

static ig_status check_manager(const ig_interp_replica *r, const ig_interp_call *given,
                               const ig_interp *interp) {
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given, &how));
    return interp->manager == r->manager
               ? IG_OK
               : ig_interp_fail(&how, IG_INVALID,
                                "the replica belongs to another manager");
}

ig_status ig_interp_replica_in(ig_interp_replica *replica, const ig_interp_call *how,
                               ig_interp *interp, ig_interp_object **out_object) {
    replica_copy *copy = NULL;
    *out_object = NULL;
    IG_TRY(check_manager(replica, how, interp));
    IG_TRY(take_copy(replica, how, interp, &copy));
    ig_status status = ig_interp_keep(interp, how, copy->object, out_object);
    drop_copy(replica, copy);
    return status;
}

/* ---- calls ---- */

static ig_status invoke_method(ig_interp *interp, const ig_interp_call *how,
                               const ig_interp_object *object, const char *method,
                               const ig_interp_arguments *arguments,
                               ig_interp_result **out_result) {
    ig_interp_object *bound = NULL;
    IG_TRY(ig_interp_attribute(interp, how, object, method, &bound));
    ig_status status = ig_interp_invoke(interp, how, bound, arguments, out_result);
    ig_interp_object_free(bound);
    return status;
}

ig_status ig_interp_replica_invoke(ig_interp_replica *replica,
                                   const ig_interp_call *how, const char *method,
                                   const ig_interp_arguments *arguments,
                                   ig_interp_result **out_result) {
    ig_interp *interp = NULL;
    replica_copy *copy = NULL;
    *out_result = NULL;
    IG_TRY(ig_interp_acquire(replica->manager, how, -1, &interp));
    ig_status status = take_copy(replica, how, interp, &copy);
    if (status == IG_OK) {
        status = method ? invoke_method(interp, how, copy->object, method, arguments,
                                        out_result)
                        : ig_interp_invoke(interp, how, copy->object, arguments,
                                           out_result);
        drop_copy(replica, copy);
    }
    ig_interp_release(interp);
    return status;
}

/* ---- packages ---- */

ig_status ig_interp_load_package(ig_interp_manager *manager, const ig_interp_call *how,
                                 const char *path, ig_interp_replica **out_package) {
    *out_package = NULL;
    IG_TRY(check_engine(manager, how));
    ig_interp_call given;
    IG_TRY(ig_interp_call_take(how, &given));
    ig_interp_replica *made = make_replica(manager, 0);
    if (!made) {
        return fail_memory(how);
    }
    if (ig_shared_map(path, &made->memory) != IG_OK) {
        ig_status status = ig_interp_fail(&given, IG_IO, "%s: %s", path,
                                          strerror(errno));
        free_replica(made);
        return status;
    }
    list_package(made);
    *out_package = made;
    return IG_OK;
}

static ig_status check_package(const ig_interp_replica *r,
                               const ig_interp_call *given) {
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given, &how));
    return r->part_count == 0 && !r->module
               ? IG_OK
               : ig_interp_fail(&how, IG_INVALID, "the replica is not a package");
}

ig_status ig_interp_load_pickle(ig_interp_replica *package, const ig_interp_call *how,
                                const char *module, const char *resource,
                                ig_interp_replica **out_replica) {
    *out_replica = NULL;
    IG_TRY(check_package(package, how));
    ig_interp_replica *made = make_replica(package->manager, 1);
    if (!made) {
        return fail_memory(how);
    }
    made->module = strdup(module);
    made->resource = strdup(resource);
    if (!made->module || !made->resource) {
        free_replica(made);
        return fail_memory(how);
    }
    hold_package(made, package);
    *out_replica = made;
    return IG_OK;
}

static ig_status load_value(ig_interp_replica *package, const ig_interp_call *how,
                            const char *method, const char *const names[2],
                            ig_interp_result **out_result) {
    ig_interp_value values[] = { text_value(names[0]), text_value(names[1]) };
    ig_interp_arguments arguments = { .values = values, .count = 2 };
    *out_result = NULL;
    IG_TRY(check_package(package, how));
    return ig_interp_replica_invoke(package, how, method, &arguments, out_result);
}

ig_status ig_interp_load_text(ig_interp_replica *package, const ig_interp_call *how,
                              const char *module, const char *resource,
                              ig_interp_result **out_result) {
    const char *const names[] = { module, resource };
    return load_value(package, how, "load_text", names, out_result);
}

ig_status ig_interp_load_binary(ig_interp_replica *package, const ig_interp_call *how,
                                const char *module, const char *resource,
                                ig_interp_result **out_result) {
    const char *const names[] = { module, resource };
    return load_value(package, how, "load_binary", names, out_result);
}

/* ---- pickled objects ---- */

static void put_part(ig_interp_replica *r, size_t index, size_t start, size_t size) {
    ig_interp_value *two = r->parts + r->part_count + 2 * index;
    two[0] = (ig_interp_value){ .kind = IG_INTERP_INTEGER,
                                .as.integer = (int64_t)start };
    two[1] = (ig_interp_value){ .kind = IG_INTERP_INTEGER,
                                .as.integer = (int64_t)size };
    r->parts[index] = (ig_interp_value){ .kind = IG_INTERP_TUPLE,
                                         .as.list = { two, 2 } };
}

/* The pickle and its buffers one after the other; the place of each is noted. */
static ig_status lay_out(ig_interp_replica *r, const ig_interp_value *text,
                         const ig_interp_value *buffers) {
    size_t count = buffers->as.list.count, end = 0;
    r->parts = calloc(3 * (count + 1), sizeof *r->parts);
    if (!r->parts) {
        return IG_LIMIT;
    }
    r->part_count = count + 1;
    for (size_t i = 0; i <= count; i++) {
        size_t size = i == 0 ? text->as.text.size
                             : buffers->as.list.items[i - 1].as.tensor.capacity;
        put_part(r, i, end, size);
        end += (size + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
    }
    IG_TRY(ig_shared_create(end, &r->memory));
    for (size_t i = 0; i <= count; i++) {
        const ig_interp_value *two = r->parts[i].as.list.items;
        const void *from = i == 0 ? text->as.text.data
                                  : buffers->as.list.items[i - 1].as.tensor.data;
        if (two[1].as.integer > 0) {
            memcpy((char *)r->memory->data + two[0].as.integer, from,
                   (size_t)two[1].as.integer);
        }
    }
    return ig_shared_seal(r->memory);
}

static ig_status take_packages(ig_interp_replica *r, const ig_interp_value *ids) {
    for (size_t i = 0; i < ids->as.list.count; i++) {
        ig_interp_replica *package = find_package(r->manager,
                                                  ids->as.list.items[i].as.integer);
        if (!package) {
            return IG_INVALID;
        }
        r->packages[r->package_count++] = package;
    }
    return IG_OK;
}

/* `dumped`: what ingot_interp.dump gives. */
static ig_status fill_replica(ig_interp_manager *manager, const ig_interp_call *given,
                              const ig_interp_value *dumped,
                              ig_interp_replica **out_replica) {
    const ig_interp_value *three = dumped->as.list.items;
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given, &how));
    *out_replica = make_replica(manager, three[2].as.list.count);
    if (!*out_replica) {
        return fail_memory(given);
    }
    ig_status status = take_packages(*out_replica, &three[2]);
    if (status != IG_OK) {
        return ig_interp_fail(&how, status,
                              "the object is of a package that was freed");
    }
    status = lay_out(*out_replica, &three[0], &three[1]);
    return status == IG_OK
               ? IG_OK
               : ig_interp_fail(&how, IG_LIMIT, "no memory for a replica: %s",
                                strerror(errno));
}

ig_status ig_interp_replicate(ig_interp *interp, const ig_interp_call *how,
                              const ig_interp_object *object,
                              ig_interp_replica **out_replica) {
    ig_interp_object *dump = NULL;
    ig_interp_result *result = NULL;
    ig_interp_replica *made = NULL;
    ig_interp_value value = { .kind = IG_INTERP_OBJECT };
    value.as.object = (ig_interp_object *)(uintptr_t)object;
    ig_interp_arguments arguments = { .values = &value, .count = 1 };
    *out_replica = NULL;
    IG_TRY(check_engine(interp->manager, how));
    IG_TRY(ig_interp_global(interp, how, "ingot_interp", "dump", &dump));
    ig_status status = ig_interp_invoke(interp, how, dump, &arguments, &result);
    ig_interp_object_free(dump);
    if (status == IG_OK) {
        status = fill_replica(interp->manager, how, ig_interp_result_value(result),
                              &made);
    }
    ig_interp_result_free(result);
    if (status != IG_OK) {
        ig_interp_replica_free(made);
        return status;
    }
    *out_replica = made;
    return IG_OK;
}
