// A heap overflow, after the GPU was used: the sanitizer must still see it.
#include "rj.h"

int main(int argc, char **argv) {
    int fd = open_kfd();
    CHECK(fd >= 0 && alive(fd));
    volatile char *p = malloc(16);
    if (argc > 1) p[atoi(argv[1])] = 1;
    free((void *)p);
    puts("clean");
    return 0;
}
