/* Packages, and objects that every interpreter has over one memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/interp/interp_case.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A package of one module with a class, an object of it, text and bytes. */
static const char write_package[] =
    "import io, pickle, zipfile\n"
    "def write(path):\n"
    "  with zipfile.ZipFile(path, 'w') as z:\n"
    "    z.writestr('p/net/__init__.py', 'from . import parts\\n')\n"
    "    z.writestr('p/net/parts.py', '''\n"
    "import math\n"
    "CALLS = []\n"
    "class Scale:\n"
    "  def __init__(self): self.by = 3\n"
    "  def __call__(self, x, *, plus=0):\n"
    "    CALLS.append(x)\n"
    "    return x * self.by + plus\n"
    "  def count(self): return len(CALLS)\n"
    "''')\n"
    "    z.writestr('p/net/scale.pkl', b'\\x80\\x03cnet.parts\\nScale\\n'\n"
    "               b')\\x81}X\\x02\\x00\\x00\\x00byK\\x05sb.')\n"
    "    z.writestr('p/net/table.pkl', pickle.dumps({'a': [1]}, 3))\n"
    "    z.writestr('p/net/words.txt', 'h\\u00e9')\n"
    "    z.writestr('p/.data/extern_modules', 'math\\n')\n";

static char package_path[64];
static bool are_processes; /* so that each has addresses of its own */

/* Two interpreters and a package; NULL after a skip. */
static ig_interp_manager *make_manager(void) {
    ig_interp_manager *manager = NULL;
    ig_interp_options options = { .size = sizeof options, .count = 2 };
    ig_status status = ig_interp_create(&options, &how, &manager);
    if (status == IG_UNSUPPORTED) { /* a build with sanitizers, or no libpython */
        options.engine = "process";
        are_processes = true;
        status = ig_interp_create(&options, &how, &manager);
    }
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return NULL;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    ig_interp *interp = NULL;
    char source[2048];
    (void)snprintf(package_path, sizeof package_path, "/tmp/ig-package-%d.pt",
                   (int)getpid());
    (void)snprintf(source, sizeof source, "%swrite('%s')\n", write_package,
                   package_path);
    CHECK_OK(ig_interp_acquire(manager, &how, 0, &interp));
    status = ig_interp_run(interp, &how, source, "write.py");
    CHECK_MSG(status == IG_OK, "%s", why);
    ig_interp_release(interp);
    return manager;
}

static ig_interp_replica *load_package(ig_interp_manager *manager) {
    ig_interp_replica *package = NULL;
    ig_status status = ig_interp_load_package(manager, &how, package_path, &package);
    CHECK_MSG(status == IG_OK, "%s", why);
    return package;
}

static const ig_interp_value five = { .kind = IG_INTERP_INTEGER, .as.integer = 5 };
static const char *const plus[] = { "plus" };
static const ig_interp_arguments call_with_five = {
    .values = &five, .count = 1, .names = plus, .named = &five, .named_count = 1
};

/* Calls the object as interpreter `index` has it. */
static int64_t call_in(ig_interp_manager *manager, ig_interp_replica *replica,
                       int64_t index) {
    ig_interp *interp = NULL;
    ig_interp_object *object = NULL;
    ig_interp_result *result = NULL;
    CHECK_OK(ig_interp_acquire(manager, &how, index, &interp));
    ig_status status = ig_interp_replica_in(replica, &how, interp, &object);
    CHECK_MSG(status == IG_OK, "%s", why);
    status = ig_interp_invoke(interp, &how, object, &call_with_five, &result);
    CHECK_MSG(status == IG_OK, "%s", why);
    int64_t integer = ig_interp_result_value(result)->as.integer;
    ig_interp_result_free(result);
    ig_interp_object_free(object);
    ig_interp_release(interp);
    return integer;
}

static int64_t count_in(ig_interp_manager *manager, ig_interp_replica *replica,
                        int64_t index) {
    ig_interp *interp = NULL;
    ig_interp_result *result = NULL;
    CHECK_OK(ig_interp_acquire(manager, &how, 1 - index, &interp)); /* leaves one */
    ig_status status = ig_interp_replica_invoke(replica, &how, "count", NULL, &result);
    CHECK_MSG(status == IG_OK, "%s", why);
    int64_t integer = ig_interp_result_value(result)->as.integer;
    ig_interp_result_free(result);
    ig_interp_release(interp);
    return integer;
}

TEST(packages_are_loaded_by_each) {
    ig_interp_manager *manager = make_manager();
    ig_interp_replica *scale = NULL, *table = NULL, *none = NULL;
    ig_interp_result *result = NULL;
    if (!manager) {
        return;
    }
    ig_interp_replica *package = load_package(manager);
    CHECK_OK(ig_interp_load_pickle(package, &how, "net", "scale.pkl", &scale));
    CHECK_OK(ig_interp_load_pickle(package, &how, "net", "table.pkl", &table));
    CHECK_OK(ig_interp_load_text(package, &how, "net", "words.txt", &result));
    CHECK_TEXT(ig_interp_result_value(result)->as.text.data, "h\xc3\xa9");
    ig_interp_result_free(result);
    CHECK_OK(ig_interp_load_binary(package, &how, "net", "words.txt", &result));
    CHECK_INT(ig_interp_result_value(result)->kind, IG_INTERP_BYTES);
    CHECK_INT(ig_interp_result_value(result)->as.text.size, 3);
    ig_interp_result_free(result);
    CHECK_STATUS(ig_interp_load_text(package, &how, "net", "no.txt", &result),
                 IG_INVALID);
    CHECK(strstr(why, "net/no.txt"));
    CHECK_STATUS(ig_interp_load_pickle(scale, &how, "net", "scale.pkl", &none),
                 IG_INVALID);
    CHECK_TEXT(why, "the replica is not a package");
    ig_interp_replica_free(package); /* what was loaded keeps it */
    CHECK_INT(call_in(manager, scale, 0), 5 * 5 + 5);
    CHECK_INT(call_in(manager, scale, 1), 5 * 5 + 5);
    CHECK_INT(call_in(manager, scale, 1), 5 * 5 + 5);
    CHECK_INT(count_in(manager, scale, 0), 1); /* each has a module of its own */
    CHECK_INT(count_in(manager, scale, 1), 2);
    CHECK_OK(ig_interp_replica_invoke(table, &how, "copy", NULL, &result));
    CHECK_INT(ig_interp_result_value(result)->kind, IG_INTERP_DICT);
    ig_interp_result_free(result);
    ig_interp_unload(scale, -1);
    CHECK_INT(call_in(manager, scale, 0), 30);
    CHECK_INT(count_in(manager, scale, 0), 2); /* the module stays, the object went */
    ig_interp_replica_free(scale);
    ig_interp_replica_free(table);
    ig_interp_replica_free(NULL);
    ig_interp_destroy(manager);
    (void)unlink(package_path);
}
END_TEST

TEST(bad_packages_are_given) {
    ig_interp_manager *manager = make_manager();
    ig_interp_replica *package = NULL, *pickle = NULL;
    ig_interp_result *result = NULL;
    if (!manager) {
        return;
    }
    CHECK_STATUS(ig_interp_load_package(manager, &how, "/no/such.pt", &package), IG_IO);
    CHECK_TEXT(why, "/no/such.pt: No such file or directory");
    CHECK_STATUS(ig_interp_load_package(manager, &how, "/tmp", &package), IG_IO);
    CHECK_PTR(package, NULL);
    FILE *file = fopen(package_path, "w");
    CHECK(file && fputs("no archive", file) >= 0 && fclose(file) == 0);
    package = load_package(manager); /* read by who first needs it */
    CHECK_STATUS(ig_interp_load_text(package, &how, "a", "b", &result), IG_INVALID);
    CHECK(strstr(why, "BadZipFile"));
    CHECK_OK(ig_interp_load_pickle(package, &how, "a", "b", &pickle));
    CHECK_STATUS(ig_interp_replica_invoke(pickle, &how, NULL, NULL, &result),
                 IG_INVALID);
    CHECK_PTR(result, NULL);
    ig_interp_replica_free(package);
    ig_interp_replica_free(pickle);
    CHECK(truncate(package_path, 0) == 0);
    package = load_package(manager);
    CHECK_STATUS(ig_interp_load_text(package, &how, "a", "b", &result), IG_INVALID);
    ig_interp_replica_free(package);
    ig_interp_destroy(manager);
    (void)unlink(package_path);
}
END_TEST

/* An object with a buffer, which tells it as a tensor where it lies. */
static const char holder_source[] =
    "import pickle\n"
    "class Holder:\n"
    "  def __init__(self, data, items): self.data, self.items = data, items\n"
    "  def __reduce_ex__(self, protocol):\n"
    "    return Holder, (pickle.PickleBuffer(self.data), self.items)\n"
    "  def where(self): return memoryview(self.data)\n"
    "  def push(self, x):\n"
    "    self.items.append(x)\n"
    "    return len(self.items)\n"
    "  def change(self): memoryview(self.data)[0] = 1\n"
    "big = Holder(bytearray(b'x' * (1 << 20)), [1])\n"
    "bad = lambda: 0\n";

static ig_interp_replica *replicate(ig_interp_manager *manager, const char *module,
                                    const char *name, ig_status wanted) {
    ig_interp *interp = NULL;
    ig_interp_object *object = NULL;
    ig_interp_replica *replica = NULL;
    CHECK_OK(ig_interp_acquire(manager, &how, 0, &interp));
    CHECK_OK(ig_interp_global(interp, &how, module, name, &object));
    ig_status status = ig_interp_replicate(interp, &how, object, &replica);
    CHECK_MSG(status == wanted, "%s", why);
    ig_interp_object_free(object);
    ig_interp_release(interp);
    return replica;
}

/* Calls a method in one interpreter. */
static ig_interp_result *ask(ig_interp_manager *manager, ig_interp_replica *replica,
                             const char *method, int64_t index, ig_status wanted) {
    ig_interp *other = NULL;
    ig_interp_result *result = NULL;
    CHECK_OK(ig_interp_acquire(manager, &how, 1 - index, &other));
    ig_interp_arguments one = { .values = &five, .count = strcmp(method, "push") == 0 };
    ig_status status = ig_interp_replica_invoke(replica, &how, method, &one, &result);
    CHECK_MSG(status == wanted, "%s", why);
    ig_interp_release(other);
    return result;
}

TEST(objects_share_their_buffers) {
    ig_interp_manager *manager = make_manager();
    if (!manager) {
        return;
    }
    CHECK_OK(ig_interp_register_source(manager, &how, "holder", holder_source));
    ig_interp_replica *big = replicate(manager, "holder", "big", IG_OK);
    ig_interp_result *first = ask(manager, big, "where", 0, IG_OK);
    ig_interp_result *second = ask(manager, big, "where", 1, IG_OK);
    const ig_view *views[] = { &ig_interp_result_value(first)->as.tensor,
                               &ig_interp_result_value(second)->as.tensor };
    CHECK(are_processes || views[0]->data == views[1]->data);
    CHECK_INT(views[0]->dims[0], 1 << 20);
    CHECK_INT(((const char *)views[0]->data)[77], 'x');
    ig_interp_result *result = ask(manager, big, "change", 0, IG_INVALID);
    CHECK_PTR(result, NULL);
    CHECK(strstr(why, "read-only memory"));
    for (int i = 0; i < 2; i++) { /* all else is each interpreter's own */
        result = ask(manager, big, "push", i, IG_OK);
        CHECK_INT(ig_interp_result_value(result)->as.integer, 2);
        ig_interp_result_free(result);
    }
    ig_interp_replica_free(big); /* what looks at the memory keeps it */
    CHECK_INT(((const char *)views[0]->data)[99], 'x');
    ig_interp_result_free(first);
    ig_interp_result_free(second);
    CHECK_PTR(replicate(manager, "holder", "bad", IG_INVALID), NULL);
    CHECK(strstr(why, "pickle"));
    ig_interp_destroy(manager);
    (void)unlink(package_path);
}
END_TEST

/* Not even until Python looks for cycles: its weights would be there twice. */
TEST(what_was_pickled_is_not_kept) {
    ig_interp_manager *manager = make_manager();
    ig_interp *interp = NULL;
    ig_interp_object *big = NULL;
    ig_interp_replica *replica = NULL;
    ig_interp_result *result = NULL;
    if (!manager) {
        return;
    }
    interp = acquire(manager, 0);
    run(interp, "import gc, pickle, weakref\n"
                "gc.disable()\n"
                "class Big:\n"
                "  def __reduce_ex__(self, protocol):\n"
                "    return list, (pickle.PickleBuffer(b'12345678'),)\n"
                "big = Big()\n"
                "ref = weakref.ref(big)\n"
                "def is_gone(): return ref() is None\n");
    CHECK_OK(ig_interp_global(interp, &how, "__main__", "big", &big));
    CHECK_OK(ig_interp_replicate(interp, &how, big, &replica));
    ig_interp_object_free(big);
    run(interp, "del big");
    CHECK_OK(invoke_in(interp, "__main__", "is_gone", NULL, &result));
    CHECK_INT(ig_interp_result_value(result)->as.truth, 1);
    run(interp, "gc.enable()");
    ig_interp_result_free(result);
    ig_interp_replica_free(replica);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    (void)unlink(package_path);
}
END_TEST

TEST(objects_of_packages_move_too) {
    ig_interp_manager *manager = make_manager();
    ig_interp_replica *scale = NULL, *again = NULL;
    ig_interp *interp = NULL;
    ig_interp_object *object = NULL;
    if (!manager) {
        return;
    }
    ig_interp_replica *package = load_package(manager);
    CHECK_OK(ig_interp_load_pickle(package, &how, "net", "scale.pkl", &scale));
    CHECK_OK(ig_interp_acquire(manager, &how, 0, &interp));
    CHECK_OK(ig_interp_replica_in(scale, &how, interp, &object));
    ig_status status = ig_interp_replicate(interp, &how, object, &again);
    CHECK_MSG(status == IG_OK, "%s", why);
    ig_interp_release(interp);
    ig_interp_replica_free(scale);
    ig_interp_replica_free(package); /* the pickle needs it still */
    CHECK_INT(call_in(manager, again, 1), 30);
    ig_interp_replica_free(again);
    CHECK_OK(ig_interp_acquire(manager, &how, 0, &interp)); /* the object is left */
    CHECK_STATUS(ig_interp_replicate(interp, &how, object, &again), IG_INVALID);
    ig_interp_object_free(object);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    (void)unlink(package_path);
}
END_TEST

/* Of the process, in pages. */
static long resident(void) {
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &size, &pages) == 2);
    (void)fclose(file);
    return pages;
}

TEST(loading_again_and_again_leaves_nothing) {
    ig_interp_manager *manager = make_manager();
    long before = 0;
    int files = 0;
    if (!manager) {
        return;
    }
    CHECK_OK(ig_interp_register_source(manager, &how, "holder", holder_source));
    for (int i = 0; i < 120; i++) {
        ig_interp_replica *package = load_package(manager), *scale = NULL;
        CHECK_OK(ig_interp_load_pickle(package, &how, "net", "scale.pkl", &scale));
        ig_interp_replica *big = replicate(manager, "holder", "big", IG_OK);
        for (int k = 0; k < 2; k++) {
            CHECK_INT(call_in(manager, scale, k), 30);
            ig_interp_result_free(ask(manager, big, "where", k, IG_OK));
        }
        ig_interp_replica_free(package);
        ig_interp_replica_free(scale);
        ig_interp_replica_free(big);
        before = i == 20 ? resident() : before;
        files = i == 20 ? count_files() : files;
    }
    CHECK_INT(count_files(), files);
    long growth = (resident() - before) * sysconf(_SC_PAGESIZE) / 1024;
    CHECK_MSG(are_processes || growth < 3072, "%ld KiB in 100 rounds", growth);
    ig_interp_destroy(manager);
    (void)unlink(package_path);
}
END_TEST

typedef struct caller {
    ig_interp_replica *scale;
    ig_status status;
    int64_t sum;
    bool unloads;
} caller;

static void *call_often(void *opaque) {
    caller *c = opaque;
    for (int i = 0; i < 60 && c->status == IG_OK; i++) {
        ig_interp_result *result = NULL;
        c->status = ig_interp_replica_invoke(c->scale, NULL, NULL, &call_with_five,
                                             &result);
        c->sum += result ? ig_interp_result_value(result)->as.integer : 0;
        ig_interp_result_free(result);
        if (c->unloads && i % 7 == 0) {
            ig_interp_unload(c->scale, i % 2);
        }
    }
    return NULL;
}

TEST(threads_call_and_unload) {
    enum { THREADS = 6 };
    ig_interp_manager *manager = make_manager();
    ig_interp_replica *scale = NULL;
    pthread_t threads[THREADS];
    caller callers[THREADS];
    if (!manager) {
        return;
    }
    ig_interp_replica *package = load_package(manager);
    CHECK_OK(ig_interp_load_pickle(package, &how, "net", "scale.pkl", &scale));
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){ .scale = scale, .unloads = i == 0 };
        CHECK_INT(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_OK(callers[i].status);
        CHECK_INT(callers[i].sum, 60 * 30);
    }
    ig_interp_replica_free(scale);
    ig_interp_replica_free(package);
    ig_interp_destroy(manager);
    (void)unlink(package_path);
}
END_TEST

UNIT_SUITE(interp_replica, packages_are_loaded_by_each, bad_packages_are_given,
           objects_share_their_buffers, what_was_pickled_is_not_kept,
           objects_of_packages_move_too, loading_again_and_again_leaves_nothing,
           threads_call_and_unload)
