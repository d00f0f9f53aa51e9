/* What interpreters cost; each subcommand prints what it measured.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     interpreters overhead              a call, acquire and release
 *     interpreters throughput N S        N threads against N processes, S seconds each
 *     interpreters memory N MIB          weights in N interpreters
 *     interpreters cycles PACKAGE COUNT  of packages, objects, acquire and release
 *     interpreters children COUNT        of interpreters in processes of their own
 */
#include <ingot/interp.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, MANY_ROUNDS = 31, CALLS = 20000, MANY = 16 };

static char why[4096];
static ig_interp_call how = { .size = sizeof how,
                              .message = why,
                              .message_size = sizeof why };

static void need(ig_status status) {
    if (status != IG_OK) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
}

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static ig_interp_manager *make_manager(const char *engine, uint32_t count) {
    ig_interp_options options = { .size = sizeof options,
                                  .engine = engine,
                                  .count = count };
    ig_interp_manager *manager = NULL;
    need(ig_interp_create(&options, &how, &manager));
    return manager;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* ---- overhead ---- */

static int64_t add_one(int64_t x) {
    return x + 1;
}

typedef struct callee {
    ig_interp_manager *manager;
    ig_interp *interp;
    ig_interp_object *function;
} callee;

static void call_function(const callee *c, int64_t i) {
    ig_interp_value x = { .kind = IG_INTERP_INTEGER, .as.integer = i };
    ig_interp_arguments arguments = { .values = &x, .count = 1 };
    ig_interp_result *result = NULL;
    need(ig_interp_invoke(c->interp, &how, c->function, &arguments, &result));
    ig_interp_result_free(result);
}

static void call_c(const callee *c, int64_t i) {
    int64_t (*volatile function)(int64_t) = add_one;
    (void)c;
    (void)function(i);
}

static void take_and_give(const callee *c, int64_t i) {
    ig_interp *interp = NULL;
    (void)i;
    need(ig_interp_acquire(c->manager, &how, -1, &interp));
    ig_interp_release(interp);
}

static double time_calls(void (*call)(const callee *c, int64_t i), const callee *c) {
    double begin = seconds();
    for (int64_t i = 0; i < CALLS; i++) {
        call(c, i);
    }
    return (seconds() - begin) / CALLS;
}

static void measure_overhead(const char *engine, const char *source) {
    callee c = { .manager = make_manager(engine, 2) };
    double native[ROUNDS], call[ROUNDS], take[ROUNDS];
    need(ig_interp_acquire(c.manager, &how, 0, &c.interp));
    need(ig_interp_run(c.interp, &how, source, "f"));
    need(ig_interp_global(c.interp, &how, "__main__", "f", &c.function));
    (void)time_calls(call_function, &c);
    for (int i = 0; i < ROUNDS; i++) {
        native[i] = time_calls(call_c, &c);
        call[i] = time_calls(call_function, &c);
        take[i] = time_calls(take_and_give, &c);
    }
    printf("%s: a call %.2f us, acquire and release %.3f us, a call in C %.4f us\n",
           engine, median(call, ROUNDS) * 1e6, median(take, ROUNDS) * 1e6,
           median(native, ROUNDS) * 1e6);
    ig_interp_object_free(c.function);
    ig_interp_release(c.interp);
    ig_interp_destroy(c.manager);
}

/* ---- throughput ---- */

static const char busy_source[] = "def busy():\n"
                                  "    total = 0\n"
                                  "    for i in range(20000):\n"
                                  "        total += i * i % 7\n"
                                  "    return total\n";

typedef struct worker {
    ig_interp_manager *manager;
    int64_t index;
    double limit;
    int calls;
} worker;

static void *work(void *opaque) {
    worker *w = opaque;
    char text[1024];
    ig_interp_call own = { .size = sizeof own,
                           .message = text,
                           .message_size = sizeof text };
    ig_interp *interp = NULL;
    ig_interp_object *busy = NULL;
    int failed = ig_interp_acquire(w->manager, &own, w->index, &interp) != IG_OK ||
                 ig_interp_run(interp, &own, busy_source, "busy") != IG_OK ||
                 ig_interp_global(interp, &own, "__main__", "busy", &busy) != IG_OK;
    double begin = seconds();
    while (!failed && seconds() - begin < w->limit) {
        ig_interp_result *result = NULL;
        failed = ig_interp_invoke(interp, &own, busy, NULL, &result) != IG_OK;
        ig_interp_result_free(result);
        w->calls++;
    }
    ig_interp_object_free(busy);
    ig_interp_release(interp);
    if (failed) {
        fprintf(stderr, "%s\n", text);
        exit(1);
    }
    return NULL;
}

/* Calls a second of `count` threads, each in an interpreter of its own. */
static double run_threads(ig_interp_manager *manager, int count, double limit) {
    pthread_t threads[MANY];
    worker workers[MANY];
    int calls = 0;
    for (int i = 0; i < count; i++) {
        workers[i] = (worker){ .manager = manager, .index = i, .limit = limit };
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            exit(1);
        }
    }
    for (int i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
        calls += workers[i].calls;
    }
    return calls / limit;
}

/* The same function in programs of the system's own Python, begun together. */
static double run_programs(int count, double limit) {
    char command[1024];
    FILE *programs[MANY];
    double calls = 0, each;
    (void)snprintf(command, sizeof command,
                   "python3 -c '%s\nimport time\nbusy()\n"
                   "begin, n = time.monotonic(), 0\n"
                   "while time.monotonic() - begin < %f: busy(); n += 1\n"
                   "print(n)'",
                   busy_source, limit);
    for (int i = 0; i < count; i++) {
        programs[i] = popen(command, "r");
    }
    for (int i = 0; i < count; i++) {
        if (!programs[i] || fscanf(programs[i], "%lf", &each) != 1) {
            fprintf(stderr, "python3 does not run\n");
            exit(1);
        }
        calls += each;
        (void)pclose(programs[i]);
    }
    return calls / limit;
}

static void measure_throughput(int count, double limit) {
    ig_interp_manager *manager = make_manager("cpython", (uint32_t)count);
    double to_one[MANY_ROUNDS], to_programs[MANY_ROUNDS], all[MANY_ROUNDS];
    (void)run_threads(manager, count, 0.1);
    for (int i = 0; i < MANY_ROUNDS; i++) {
        double one = run_threads(manager, 1, limit);
        double programs = run_programs(count, limit);
        all[i] = run_threads(manager, count, limit);
        to_one[i] = all[i] / one;
        to_programs[i] = all[i] / programs;
    }
    double calls = median(all, MANY_ROUNDS), one = median(to_one, MANY_ROUNDS);
    double programs = median(to_programs, MANY_ROUNDS);
    printf("%d threads: %.0f calls/s, %.2f x one thread, %.2f x %d programs "
           "(half of the rounds: %.2f to %.2f)\n",
           count, calls, one, programs, count, to_programs[MANY_ROUNDS / 4],
           to_programs[3 * MANY_ROUNDS / 4]);
    ig_interp_destroy(manager);
}

/* ---- memory ---- */

/* KiB that are resident, of anonymous and of shared memory. */
static long resident(void) {
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmRSS: %ld", &kib) == 1) {
            break;
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return kib;
}

static int count_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder)) {
        count++;
    }
    (void)closedir(folder);
    return count - 3; /* this folder, "." and ".." */
}

static int count_namespaces(void) {
    char line[512];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file)) {
        count += strstr(line, "libpython") && strstr(line, "r-xp");
    }
    if (file) {
        (void)fclose(file);
    }
    return count;
}

static const char weights_source[] =
    "import pickle\n"
    "class Weights:\n"
    "  def __init__(self, data): self.data = memoryview(data)\n"
    "  def __reduce_ex__(self, protocol):\n"
    "    return Weights, (pickle.PickleBuffer(self.data),)\n"
    "  def touch(self): return sum(self.data[::4096])\n"
    "def make(mib): return Weights(bytearray(b'\\1') * (mib << 20))\n";

/* Weights of so many MiB, pickled; what made them is gone. */
static ig_interp_replica *make_weights(ig_interp_manager *manager, int64_t mib) {
    ig_interp_value size = { .kind = IG_INTERP_INTEGER, .as.integer = mib };
    ig_interp_arguments arguments = { .values = &size, .count = 1 };
    ig_interp *interp = NULL;
    ig_interp_object *make = NULL, *weights = NULL;
    ig_interp_replica *replica = NULL;
    need(ig_interp_register_source(manager, &how, "weights", weights_source));
    need(ig_interp_acquire(manager, &how, 0, &interp));
    need(ig_interp_global(interp, &how, "weights", "make", &make));
    need(ig_interp_make(interp, &how, make, &arguments, &weights));
    need(ig_interp_replicate(interp, &how, weights, &replica));
    ig_interp_object_free(weights);
    ig_interp_object_free(make);
    ig_interp_release(interp);
    return replica;
}

/* Every interpreter reads all of its pages. */
static void touch_in_all(ig_interp_manager *manager, ig_interp_replica *replica) {
    for (uint32_t i = 0; i < ig_interp_count(manager); i++) {
        ig_interp *interp = NULL;
        ig_interp_object *object = NULL, *touch = NULL;
        ig_interp_result *result = NULL;
        need(ig_interp_acquire(manager, &how, i, &interp));
        need(ig_interp_replica_in(replica, &how, interp, &object));
        need(ig_interp_attribute(interp, &how, object, "touch", &touch));
        need(ig_interp_invoke(interp, &how, touch, NULL, &result));
        ig_interp_result_free(result);
        ig_interp_object_free(touch);
        ig_interp_object_free(object);
        ig_interp_release(interp);
    }
}

static void measure_memory(int count, long mib) {
    long empty = resident();
    ig_interp_manager *manager = make_manager("cpython", (uint32_t)count);
    long begun = resident();
    ig_interp_replica *small = make_weights(manager, 1);
    touch_in_all(manager, small);
    ig_interp_replica_free(small);
    long before = resident();
    ig_interp_replica *weights = make_weights(manager, mib);
    touch_in_all(manager, weights);
    long after = resident();
    printf("%d interpreters: %.1f MiB each; weights of %ld MiB in all of them: "
           "%.1f MiB, %.3f x\n",
           count, (double)(begun - empty) / 1024 / count, mib,
           (double)(after - before) / 1024,
           (double)(after - before) / 1024 / (double)mib);
    ig_interp_replica_free(weights);
    ig_interp_destroy(manager);
}

/* ---- cycles ---- */

static void cycle_package(ig_interp_manager *manager, const char *path) {
    ig_interp_replica *package = NULL, *object = NULL;
    ig_interp_result *result = NULL;
    ig_interp_value x = { .kind = IG_INTERP_INTEGER, .as.integer = 1 };
    ig_interp_arguments arguments = { .values = &x, .count = 1 };
    need(ig_interp_load_package(manager, &how, path, &package));
    need(ig_interp_load_pickle(package, &how, "net", "scale.pkl", &object));
    need(ig_interp_replica_invoke(object, &how, NULL, &arguments, &result));
    ig_interp_result_free(result);
    ig_interp_replica_free(object);
    ig_interp_replica_free(package);
}

typedef struct growth {
    long kib;
    int files, namespaces;
} growth;

static growth read_growth(void) {
    return (growth){ resident(), count_files(), count_namespaces() };
}

/* What there was after a tenth of the cycles, and after all. */
static void print_growth(const char *what, int cycles, growth early, double begin) {
    growth late = read_growth();
    printf("%d cycles of %s: %.2f ms each; resident %.1f to %.1f MiB, files %d to %d, "
           "namespaces %d to %d\n",
           cycles, what, (seconds() - begin) / cycles * 1e3, (double)early.kib / 1024,
           (double)late.kib / 1024, early.files, late.files, early.namespaces,
           late.namespaces);
}

static void measure_cycles(const char *path, int cycles) {
    ig_interp_manager *manager = make_manager("cpython", 2);
    growth early = { 0 };
    double begin = seconds();
    for (int i = 0; i < cycles; i++) {
        cycle_package(manager, path);
        if (i == cycles / 10) {
            early = read_growth();
        }
    }
    print_growth("a package and its object", cycles, early, begin);
    callee c = { .manager = manager };
    begin = seconds();
    early = read_growth();
    for (int i = 0; i < cycles; i++) {
        take_and_give(&c, i);
    }
    print_growth("acquire and release", cycles, early, begin);
    ig_interp_destroy(manager);
    begin = seconds();
    for (int i = 0; i < cycles; i++) {
        ig_interp_destroy(make_manager("lua", 2));
        if (i == cycles / 10) {
            early = read_growth();
        }
    }
    print_growth("managers of Lua", cycles, early, begin);
}

static void measure_children(int cycles) {
    growth early = { 0 };
    double begin = seconds();
    for (int i = 0; i < cycles; i++) {
        ig_interp_destroy(make_manager("process", 1));
        if (i == cycles / 10) {
            early = read_growth();
        }
    }
    print_growth("an interpreter in a process", cycles, early, begin);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "overhead") == 0) {
        measure_overhead("cpython", "def f(x): return x + 1");
        measure_overhead("lua", "function f(x) return x + 1 end");
        measure_overhead("process", "def f(x): return x + 1");
    } else if (strcmp(what, "throughput") == 0 && count == 4 &&
               atoi(arguments[2]) > 0 && atoi(arguments[2]) <= MANY) {
        measure_throughput(atoi(arguments[2]), atof(arguments[3]));
    } else if (strcmp(what, "memory") == 0 && count == 4) {
        measure_memory(atoi(arguments[2]), atol(arguments[3]));
    } else if (strcmp(what, "cycles") == 0 && count == 4) {
        measure_cycles(arguments[2], atoi(arguments[3]));
    } else if (strcmp(what, "children") == 0 && count == 3) {
        measure_children(atoi(arguments[2]));
    } else {
        fprintf(stderr, "usage: see the head of interpreters.c\n");
        return 2;
    }
    return 0;
}
