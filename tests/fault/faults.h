/* libc with faults: the n-th call of a kind fails, and everybody sees it: this program,
 * libingot, libzip, jansson and protobuf-c.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A test links faults.c, whose functions stand before those of libc.  A fault is told
 * once: what comes behind it works again.  The plan is in memory that a forked child
 * shares, so that a crash does not lose it.
 */
#ifndef IG_TESTS_FAULT_FAULTS_H
#define IG_TESTS_FAULT_FAULTS_H

#include <stdbool.h>

typedef enum fault_kind {
    FAULT_NONE,
    FAULT_MEMORY,    /* malloc and the like, mmap, threads: ENOMEM */
    FAULT_ERROR,     /* files: EIO, and ENOSPC of what writes */
    FAULT_INTERRUPT, /* files: EINTR, of what may wait */
    FAULT_SHORT,     /* reading and writing: one byte of many */
    FAULT_KINDS,
} fault_kind;

/* A sanitizer stands before libc itself: then there is nothing of this, and tests are
 * FAULTS_SKIPPED. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAULTS_ARE_OFF
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAULTS_ARE_OFF
#endif
#define FAULTS_SKIPPED                                                 \
    int main(void) {                                                   \
        puts("skip: faults: a sanitizer stands in the place of libc"); \
        puts("0 passed, 0 failed, 1 skipped");                         \
        return 0;                                                      \
    }

/* Before any process is made. */
void faults_share(void);
/* From here to faults_end the `at`-th call of that kind fails (0: none, but blocks and
 * files that live are counted). */
void faults_begin(fault_kind kind, long at);
/* True when the fault was reached. */
bool faults_end(void);
/* The same, asked by the parent of the process that began. */
bool faults_was_reached(void);
/* The function that failed; "" when none did. */
const char *faults_where(void);
/* Did this library ask for the memory that failed?  "libjansson": its 2.14 leaves out
 * letters of a token that it has no memory for, its last quote too, and then reads on
 * beyond the end (lex_save passes over what strbuffer_append_byte returns): nothing is
 * asked of it.  "libzip": its 1.7.3 may leave a block behind. */
bool faults_are_in(const char *library);
/* Blocks and mappings made since the begin that are still there. */
long faults_live(void);

/* The name of the kind, for messages. */
const char *fault_kind_name(fault_kind kind);

#endif
