/* Packets between the two processes, with descriptors of shared memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union control_space { /* aligned as its headers are */
    struct cmsghdr header;
    char bytes[CMSG_SPACE(IG_WIRE_FILES_MAX * sizeof(int))];
} control_space;

bool ig_wire_send(int socket, size_t size, const int *files, size_t file_count) {
    ig_wire_packet packet = { .size = size };
    struct iovec part = { &packet, sizeof packet };
    control_space control;
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    memset(&control, 0, sizeof control);
    if (file_count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(file_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(file_count * sizeof(int));
        memcpy(CMSG_DATA(header), files, file_count * sizeof(int));
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof packet;
}

/* Descriptors that nobody expects are closed. */
static size_t take_files(struct msghdr *message, int *files) {
    size_t count = 0;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h; h = CMSG_NXTHDR(message, h)) {
        size_t here = h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS
                          ? (h->cmsg_len - CMSG_LEN(0)) / sizeof(int)
                          : 0;
        for (size_t i = 0; i < here; i++) {
            int file;
            memcpy(&file, CMSG_DATA(h) + i * sizeof file, sizeof file);
            if (files && count < IG_WIRE_FILES_MAX) {
                files[count++] = file;
            } else {
                (void)close(file);
            }
        }
    }
    return count;
}

bool ig_wire_receive(int socket, size_t *out_size, int *files, size_t *out_count) {
    ig_wire_packet packet;
    struct iovec part = { &packet, sizeof packet };
    control_space control;
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    ssize_t got;
    do {
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    size_t count = got >= 0 ? take_files(&message, files) : 0;
    if (out_count) {
        *out_count = count;
    }
    *out_size = got == (ssize_t)sizeof packet ? packet.size : 0;
    return got == (ssize_t)sizeof packet;
}
