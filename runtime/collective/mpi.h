/* MPI, opened at run time: its functions, for both families of implementations.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Handles are pointers in Open MPI, and numbers in MPICH and its kin (Intel MPI,
 * MVAPICH, Cray): otherwise only the values of a few constants differ.  No header of
 * either is needed; the numbers are those of MPICH's ABI, which its kin share.
 */
#ifndef IG_RUNTIME_COLLECTIVE_MPI_H
#define IG_RUNTIME_COLLECTIVE_MPI_H

#include "runtime/collective/transport.h"

typedef union ig_mpi_handle {
    void *pointer;
    int id;
} ig_mpi_handle;

typedef struct ig_mpi ig_mpi;

/* One table a family.  All but `open` return 0, or an error of MPI's. */
typedef struct ig_mpi_family {
    const char *name;
    /* Finds constants and the communicator's handle; false: it is not this family. */
    bool (*open)(ig_mpi *mpi, int communicator);
    int (*comm_rank)(const ig_mpi *mpi, int *out);
    int (*comm_size)(const ig_mpi *mpi, int *out);
    int (*comm_dup)(const ig_mpi *mpi, ig_mpi_handle *out);
    int (*comm_free)(ig_mpi *mpi);
    int (*return_errors)(const ig_mpi *mpi);
    int (*send)(const ig_mpi *mpi, const void *data, int bytes, int rank,
                ig_mpi_handle *out_request);
    int (*receive)(const ig_mpi *mpi, void *data, int bytes, int rank,
                   ig_mpi_handle *out_request);
    int (*test)(const ig_mpi *mpi, ig_mpi_handle *request, int *out_done);
    int (*abort)(const ig_mpi *mpi, int status);
} ig_mpi_family;

enum { IG_MPI_CALLS = 13 };

struct ig_mpi {
    void *library; /* NULL: the process has it */
    const ig_mpi_family *family;
    void *calls[IG_MPI_CALLS];
    ig_mpi_handle comm, byte, errors_return;
    bool is_own;    /* MPI was started here, and ends here */
    bool has_comm;  /* the communicator is a copy of ours */
    bool is_broken; /* messages are under way that nobody waits for */
};

/* Opens the library, and MPI where nobody has yet.  `name`: "" for all ranks of the
 * job, or the number that MPI_Comm_c2f gives of a communicator. */
ig_status ig_mpi_open(ig_group *group, ig_mpi *mpi, const char *name);
/* Ends MPI if this library began it; after a failure ends all ranks too. */
void ig_mpi_close(ig_mpi *mpi);

#endif
