// What the tests' programs share: a device is ours if its ioctl is answered by the driver and not by the kernel.
#ifndef RJ_H
#define RJ_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x) \
    do { \
        if (!(x)) { \
            fprintf(stderr, "%s:%d: failed: %s (errno %s)\n", __FILE__, __LINE__, #x, strerror(errno)); \
            _exit(9); \
        } \
    } while (0)

// KFD GET_VERSION.
static inline int kfd_version(int fd) {
    uint32_t v[2] = {0, 0};
    return ioctl(fd, 0x80084b01u, v) == 0 && v[0] >= 1 ? 0 : errno;
}
static inline int alive(int fd) { return kfd_version(fd) != EBADF; }
static inline int dead(int fd) { return kfd_version(fd) == EBADF; }
static inline int open_kfd(void) { return open("/dev/kfd", O_RDWR | O_CLOEXEC); }
#endif
