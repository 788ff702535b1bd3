// Looks each name up in libc by handle; it must come from the preloaded library.
#include "rj.h"
#include <dlfcn.h>

int main(int argc, char **argv) {
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    CHECK(libc && argc > 50);
    for (int i = 1; i < argc; i++) {
        void *p = dlsym(libc, argv[i]);
        Dl_info info;
        if (!p || !dladdr(p, &info) || !strstr(info.dli_fname, "librocjitsu.so")) printf("%s\n", argv[i]);
        // What the next library would answer is libc's own.
        p = dlsym(RTLD_NEXT, argv[i]);
        CHECK(dlsym(RTLD_DEFAULT, argv[i]) && p);
    }
    CHECK(!dlsym(libc, "no_such_function_at_all"));
    return 0;
}
