// A program that loads a ROCm runtime (or what is named like one) and leaves in several ways.
#include "rj.h"
#include <dlfcn.h>
#include <signal.h>

int main(int argc, char **argv) {
    CHECK(argc > 2 && dlopen(argv[1], RTLD_NOW));
    if (strstr(argv[2], "open")) CHECK(alive(open_kfd()));
    if (strstr(argv[2], "_exit")) _exit(0);
    if (strstr(argv[2], "abort")) abort();
    return 0;
}
