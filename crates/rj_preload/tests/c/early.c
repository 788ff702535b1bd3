// Uses memory, files and the GPU before any constructor ran, and in one.
#include "rj.h"

static int early_fd, ctor_fd;

static void *map(void) {
    void *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    memset(p, 1, 8192);
    return p;
}
static void before_all(void) {
    CHECK(munmap(map(), 8192) == 0);
    int f = open("/proc/self/stat", O_RDONLY);
    CHECK(f >= 0 && close(f) == 0);
    early_fd = open_kfd();
}
__attribute__((section(".preinit_array"), used)) static void (*early)(void) = before_all;
__attribute__((constructor(101))) static void ctor(void) {
    void *p = mremap(map(), 8192, 65536, MREMAP_MAYMOVE);
    CHECK(p != MAP_FAILED && munmap(p, 65536) == 0);
    ctor_fd = open_kfd();
}
int main(void) {
    CHECK(early_fd >= 0 && alive(early_fd));
    CHECK(ctor_fd >= 0 && alive(ctor_fd));
    return 0;
}
