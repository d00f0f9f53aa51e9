/* Opening MPI: the library, its family, its start.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/collective/mpi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_SERIALIZED = 2, TAG = 0x1907 };
/* Of MPICH's ABI. */
enum { MPICH_COMM_WORLD = 0x44000000, MPICH_BYTE = 0x4c00010d };
enum { MPICH_ERRORS_RETURN = 0x54000001 };

enum {
#define CALL(name) CALL_##name,
#include "runtime/collective/mpi.def"
#undef CALL
    CALL_COUNT
};
_Static_assert((int)CALL_COUNT == (int)IG_MPI_CALLS, "room for all calls");

static const char *const call_names[CALL_COUNT] = {
#define CALL(name) "MPI_" #name,
#include "runtime/collective/mpi.def"
#undef CALL
};

/* A symbol of the library; NULL: it lacks it. */
static void *find_symbol(const ig_mpi *mpi, const char *name) {
    return dlsym(mpi->library ? mpi->library : RTLD_DEFAULT, name);
}

/* A function, as a pointer of the type of `out`. */
static void take_call(const ig_mpi *mpi, int index, void *out) {
    memcpy(out, &mpi->calls[index], sizeof mpi->calls[index]);
}

/* ---- the families ---- */

/*  FAMILY(prefix, handle, field, no_status): the calls, with handles of that type.  */
#define FAMILY(prefix, handle, field, no_status)                                       \
    static int prefix##_comm_rank(const ig_mpi *mpi, int *out) {                       \
        int (*call)(handle, int *);                                                    \
        take_call(mpi, CALL_Comm_rank, &call);                                         \
        return call(mpi->comm.field, out);                                             \
    }                                                                                  \
    static int prefix##_comm_size(const ig_mpi *mpi, int *out) {                       \
        int (*call)(handle, int *);                                                    \
        take_call(mpi, CALL_Comm_size, &call);                                         \
        return call(mpi->comm.field, out);                                             \
    }                                                                                  \
    static int prefix##_comm_dup(const ig_mpi *mpi, ig_mpi_handle *out) {              \
        int (*call)(handle, handle *);                                                 \
        take_call(mpi, CALL_Comm_dup, &call);                                          \
        return call(mpi->comm.field, &out->field);                                     \
    }                                                                                  \
    static int prefix##_comm_free(ig_mpi *mpi) {                                       \
        int (*call)(handle *);                                                         \
        take_call(mpi, CALL_Comm_free, &call);                                         \
        return call(&mpi->comm.field);                                                 \
    }                                                                                  \
    static int prefix##_return_errors(const ig_mpi *mpi) {                             \
        int (*call)(handle, handle);                                                   \
        take_call(mpi, CALL_Comm_set_errhandler, &call);                               \
        return call(mpi->comm.field, mpi->errors_return.field);                        \
    }                                                                                  \
    static int prefix##_send(const ig_mpi *mpi, const void *data, int bytes, int rank, \
                             ig_mpi_handle *out_request) {                             \
        int (*call)(const void *, int, handle, int, int, handle, handle *);            \
        take_call(mpi, CALL_Isend, &call);                                             \
        return call(data, bytes, mpi->byte.field, rank, TAG, mpi->comm.field,          \
                    &out_request->field);                                              \
    }                                                                                  \
    static int prefix##_receive(const ig_mpi *mpi, void *data, int bytes, int rank,    \
                                ig_mpi_handle *out_request) {                          \
        int (*call)(void *, int, handle, int, int, handle, handle *);                  \
        take_call(mpi, CALL_Irecv, &call);                                             \
        return call(data, bytes, mpi->byte.field, rank, TAG, mpi->comm.field,          \
                    &out_request->field);                                              \
    }                                                                                  \
    static int prefix##_test(const ig_mpi *mpi, ig_mpi_handle *request,                \
                             int *out_done) {                                          \
        int (*call)(handle *, int *, void *);                                          \
        take_call(mpi, CALL_Test, &call);                                              \
        return call(&request->field, out_done, (void *)(uintptr_t)(no_status));        \
    }                                                                                  \
    static int prefix##_abort(const ig_mpi *mpi, int status) {                         \
        int (*call)(handle, int);                                                      \
        take_call(mpi, CALL_Abort, &call);                                             \
        return call(mpi->comm.field, status);                                          \
    }

#define ROW(prefix, text)                                                  \
    {                                                                      \
        text, prefix##_open, prefix##_comm_rank, prefix##_comm_size,       \
            prefix##_comm_dup, prefix##_comm_free, prefix##_return_errors, \
            prefix##_send, prefix##_receive, prefix##_test, prefix##_abort \
    }

FAMILY(openmpi, void *, pointer, 0)
FAMILY(mpich, int, id, 1)

static bool openmpi_open(ig_mpi *mpi, int communicator) {
    void *(*from_number)(int);
    void *found = find_symbol(mpi, "MPI_Comm_f2c");
    memcpy(&from_number, &found, sizeof found);
    mpi->comm.pointer = find_symbol(mpi, "ompi_mpi_comm_world");
    mpi->byte.pointer = find_symbol(mpi, "ompi_mpi_byte");
    mpi->errors_return.pointer = find_symbol(mpi, "ompi_mpi_errors_return");
    if (communicator >= 0 && from_number) {
        mpi->comm.pointer = from_number(communicator);
    }
    return mpi->comm.pointer && mpi->byte.pointer && mpi->errors_return.pointer;
}

/* Whose communicators are the same numbers in Fortran. */
static bool mpich_open(ig_mpi *mpi, int communicator) {
    mpi->comm.id = communicator >= 0 ? communicator : MPICH_COMM_WORLD;
    mpi->byte.id = MPICH_BYTE;
    mpi->errors_return.id = MPICH_ERRORS_RETURN;
    return find_symbol(mpi, "MPIX_Comm_agree") != NULL; /* all of them have it */
}

static const ig_mpi_family families[] = { ROW(openmpi, "Open MPI"),
                                          ROW(mpich, "MPICH") };

/* ---- the library ---- */

static bool is_loaded(void) {
    return dlsym(RTLD_DEFAULT, "MPI_Init_thread") != NULL;
}

/* The one whose launcher has started us first; INGOT_MPI_LIBRARY names another. */
static bool load_library(ig_mpi *mpi) {
    static const char *const names[] = { "libmpi.so.40", "libmpich.so.12",
                                         "libmpi.so.12", "libmpi.so" };
    const char *given = getenv("INGOT_MPI_LIBRARY");
    if (is_loaded()) {
        return true;
    }
    if (given && *given) {
        mpi->library = dlopen(given, RTLD_NOW | RTLD_GLOBAL);
        return mpi->library != NULL;
    }
    size_t count = sizeof names / sizeof *names;
    size_t first = getenv("PMI_RANK") && !getenv("OMPI_COMM_WORLD_RANK") ? 1 : 0;
    for (size_t i = 0; i < count && !mpi->library; i++) {
        mpi->library = dlopen(names[(first + i) % count], RTLD_NOW | RTLD_GLOBAL);
    }
    return mpi->library != NULL;
}

static ig_status find_calls(ig_group *group, ig_mpi *mpi) {
    for (int i = 0; i < CALL_COUNT; i++) {
        mpi->calls[i] = find_symbol(mpi, call_names[i]);
        if (!mpi->calls[i]) {
            return ig_group_error(group, IG_IO, "mpi: the library lacks %s",
                                  call_names[i]);
        }
    }
    return IG_OK;
}

static ig_status start_mpi(ig_group *group, ig_mpi *mpi) {
    int (*is_started)(int *), (*start)(int *, char ***, int, int *), done = 0, level;
    take_call(mpi, CALL_Initialized, &is_started);
    take_call(mpi, CALL_Init_thread, &start);
    if (is_started(&done) != 0 ||
        (!done && start(NULL, NULL, THREADS_SERIALIZED, &level) != 0)) {
        return ig_group_error(group, IG_IO, "mpi: MPI_Init_thread has failed");
    }
    mpi->is_own = !done;
    return IG_OK;
}

/* Is this process the rank that was asked for, of as many? */
static ig_status check_rank(ig_group *group, const ig_mpi *mpi) {
    int rank = -1, size = -1;
    const ig_group_options *o = &group->options;
    if (mpi->family->comm_rank(mpi, &rank) != 0 ||
        mpi->family->comm_size(mpi, &size) != 0) {
        return ig_group_error(group, IG_INVALID, "mpi: there is no such communicator");
    }
    return rank >= 0 && (uint32_t)rank == o->rank && (uint32_t)size == o->world
               ? IG_OK
               : ig_group_error(group, IG_INVALID,
                                "mpi: this is rank %d of %d, and was to be rank %u of "
                                "%u; is it started by mpirun of the same MPI (%s)?",
                                rank, size, o->rank, o->world, mpi->family->name);
}

static bool find_family(ig_mpi *mpi, int communicator) {
    for (size_t i = 0; i < sizeof families / sizeof *families && !mpi->family; i++) {
        mpi->family = families[i].open(mpi, communicator) ? &families[i] : NULL;
    }
    return mpi->family != NULL;
}

ig_status ig_mpi_open(ig_group *group, ig_mpi *mpi, const char *name) {
    char *end = NULL;
    long number = *name ? strtol(name, &end, 10) : -1;
    if (*name && (*end || number < 0 || number > INT32_MAX)) {
        return ig_group_error(group, IG_INVALID,
                              "mpi:%s: expected a number of MPI_Comm_c2f, or nothing",
                              name);
    }
    if (!load_library(mpi)) {
        return ig_group_error(group, IG_IO,
                              "mpi: no library of MPI can be opened: install "
                              "openmpi-bin or mpich, or name one in INGOT_MPI_LIBRARY");
    }
    IG_TRY(find_calls(group, mpi));
    IG_TRY(start_mpi(group, mpi));
    if (!find_family(mpi, (int)number)) {
        return ig_group_error(group, IG_UNSUPPORTED,
                              "mpi: neither Open MPI's symbols nor MPICH's are there");
    }
    ig_mpi_handle copy = { 0 };
    IG_TRY(check_rank(group, mpi));
    if (mpi->family->comm_dup(mpi, &copy) != 0) {
        return ig_group_error(group, IG_IO, "mpi: MPI_Comm_dup has failed");
    }
    mpi->comm = copy;
    mpi->has_comm = true;
    (void)mpi->family->return_errors(mpi);
    return IG_OK;
}

void ig_mpi_close(ig_mpi *mpi) {
    int (*end)(void), (*has_ended)(int *), done = 0;
    if (!mpi->family) {
        return;
    }
    if (mpi->is_broken && mpi->is_own) {
        struct timespec nap = { .tv_nsec = 300000000 };
        (void)nanosleep(&nap, NULL); /* who knows why says so first */
        (void)mpi->family->abort(mpi, 1);
    }
    if (mpi->has_comm && !mpi->is_broken) {
        (void)mpi->family->comm_free(mpi);
    }
    take_call(mpi, CALL_Finalized, &has_ended);
    take_call(mpi, CALL_Finalize, &end);
    if (mpi->is_own && has_ended(&done) == 0 && !done) {
        (void)end();
    }
}
