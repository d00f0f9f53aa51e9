/* all_to_all of ranks of one host: shm against MPI_Alltoall, in turns.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc -O2 -Iinclude bench/native/exchange.c -Lbuild/release -lingot-group \
 *        -lingot-runtime -Wl,-rpath,$PWD/build/release -o exchange
 *     mpirun -n 2 ./exchange             (as root: --allow-run-as-root)
 *
 * Open MPI's library (libmpi.so.40) is opened here, as its headers may not be there.
 * For 4 KB to 64 MB between each two ranks: rounds of one, then of the other, each
 * timed by rank 0 between barriers of its own kind; medians of both, and of the ratio
 * of rounds that follow each other.
 */
#include <ingot/group.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, MAX = 64 << 20, MIN = 4 << 10, WORLD_MAX = 16 };

typedef struct bench {
    ig_group *group;
    int rank, world;
    char *send, *receive;
    char message[512];
} bench;

/* Open MPI's handles are addresses of objects of the library. */
typedef struct open_mpi {
    void *library, *world, *byte;
    int (*init)(int *argc, char ***argv);
    int (*rank)(void *comm, int *out);
    int (*size)(void *comm, int *out);
    int (*barrier)(void *comm);
    int (*bcast)(void *data, int count, void *type, int root, void *comm);
    int (*alltoall)(const void *send, int send_count, void *send_type, void *receive,
                    int receive_count, void *receive_type, void *comm);
    int (*finalize)(void);
    int (*abort)(void *comm, int status);
} open_mpi;

static open_mpi mpi;

static void fail(const char *what) {
    fprintf(stderr, "exchange: %s\n", what);
    if (mpi.abort) {
        mpi.abort(mpi.world, 1);
    }
    exit(1);
}

static void *find(const char *name) {
    void *symbol = dlsym(mpi.library, name);
    if (!symbol) {
        fail(dlerror());
    }
    return symbol;
}

static void open_library(void) {
    mpi.library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (!mpi.library) {
        fail(dlerror());
    }
    mpi.world = find("ompi_mpi_comm_world");
    mpi.byte = find("ompi_mpi_byte");
    *(void **)&mpi.init = find("MPI_Init");
    *(void **)&mpi.rank = find("MPI_Comm_rank");
    *(void **)&mpi.size = find("MPI_Comm_size");
    *(void **)&mpi.barrier = find("MPI_Barrier");
    *(void **)&mpi.bcast = find("MPI_Bcast");
    *(void **)&mpi.alltoall = find("MPI_Alltoall");
    *(void **)&mpi.finalize = find("MPI_Finalize");
    *(void **)&mpi.abort = find("MPI_Abort");
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_mpi(const bench *b, int bytes, int calls) {
    mpi.barrier(mpi.world);
    double start = now();
    for (int i = 0; i < calls; i++) {
        mpi.alltoall(b->send, bytes, mpi.byte, b->receive, bytes, mpi.byte, mpi.world);
    }
    return (now() - start) / calls;
}

static double run_shm(bench *b, int bytes, int calls) {
    ig_group_part send[WORLD_MAX], receive[WORLD_MAX];
    for (int r = 0; r < b->world; r++) {
        send[r] = (ig_group_part){ b->send + (size_t)r * (size_t)bytes, (size_t)bytes };
        receive[r] = (ig_group_part){ b->receive + (size_t)r * (size_t)bytes,
                                      (size_t)bytes };
    }
    if (ig_group_barrier(b->group) != IG_OK) {
        fail(b->message);
    }
    double start = now();
    for (int i = 0; i < calls; i++) {
        if (ig_group_all_to_all(b->group, send, receive) != IG_OK) {
            fail(b->message);
        }
    }
    return (now() - start) / calls;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static void check_received(const bench *b, int bytes) {
    for (int r = 0; r < b->world; r++) {
        const char *from = b->receive + (size_t)r * (size_t)bytes;
        if (from[0] != (char)(r + 1) || from[bytes - 1] != (char)(r + 1)) {
            fail("the received bytes are not those sent");
        }
    }
}

static void compare_size(bench *b, int bytes) {
    double theirs[ROUNDS], shm[ROUNDS], ratio[ROUNDS];
    int calls = (32 << 20) / bytes;
    calls = calls < 1 ? 1 : calls > 400 ? 400 : calls;
    run_mpi(b, bytes, calls);
    memset(b->receive, 0, (size_t)b->world * (size_t)bytes);
    run_shm(b, bytes, calls);
    check_received(b, bytes);
    for (int i = 0; i < ROUNDS; i++) {
        theirs[i] = run_mpi(b, bytes, calls);
        shm[i] = run_shm(b, bytes, calls);
        ratio[i] = theirs[i] / shm[i];
    }
    if (b->rank == 0) {
        printf("%10d %12.2f %12.2f %8.2f\n", bytes, 1e6 * median(theirs),
               1e6 * median(shm), median(ratio));
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    bench b = { 0 };
    open_library();
    mpi.init(&argc, &argv);
    mpi.rank(mpi.world, &b.rank);
    mpi.size(mpi.world, &b.world);
    char name[64];
    long key = (long)(1e3 * now());
    mpi.bcast(&key, (int)sizeof key, mpi.byte, 0, mpi.world);
    snprintf(name, sizeof name, "shm:ingot-bench-%ld", key);
    ig_group_options options = { .size = sizeof options,
                                 .rank = (uint32_t)b.rank,
                                 .world = (uint32_t)b.world,
                                 .message = b.message,
                                 .message_size = sizeof b.message };
    if (b.world > WORLD_MAX || ig_group_open(name, &options, &b.group) != IG_OK) {
        fail(b.message);
    }
    size_t all = (size_t)b.world * MAX;
    b.send = malloc(all);
    b.receive = malloc(all);
    if (!b.send || !b.receive) {
        fail("no memory");
    }
    memset(b.send, b.rank + 1, all);
    memset(b.receive, 0, all);
    if (b.rank == 0) {
        puts(
            "     bytes  MPI_Alltoall          shm    ratio   (us, medians; > 1: shm is "
            "faster)");
    }
    for (int bytes = MIN; bytes <= MAX; bytes *= 4) {
        compare_size(&b, bytes);
    }
    ig_group_close(b.group);
    free(b.send);
    free(b.receive);
    mpi.finalize();
    return 0;
}
