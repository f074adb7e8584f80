/* A disk that fails on demand, below SQLite: preloaded into a process of a test.

The file that FAILING_DISK names holds what fails now, a line each: "sync" or "write", a space, and
how the names of the files end that it fails for. "then-write" fails once a sync has failed,
"sync@2" at the second sync alone. No such file: nothing fails. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int sync_has_failed, syncs;

/* Whether an order, such as "sync", is one for what is done now. */
static int is_meant(const char *order, const char *what)
{
    if (strncmp(order, "then-", 5) == 0)
        return sync_has_failed && strcmp(order + 5, what) == 0;
    if (strncmp(order, "sync@", 5) == 0)
        return strcmp(what, "sync") == 0 && ++syncs == atoi(order + 5);
    return strcmp(order, what) == 0;
}

static int fails(const char *what, int file)
{
    const char *orders = getenv("FAILING_DISK");
    char name[4096], way[64], line[256];
    FILE *list;
    ssize_t length;
    int found = 0, before = errno;

    if (orders == NULL)
        return 0;
    snprintf(way, sizeof way, "/proc/self/fd/%d", file);
    length = readlink(way, name, sizeof name - 1);
    if (length < 0 || (list = fopen(orders, "re")) == NULL) {
        errno = before;
        return 0;
    }
    name[length] = 0;
    while (!found && fgets(line, sizeof line, list)) {
        char *ending = strchr(line, ' ');
        size_t size;
        if (ending == NULL)
            continue;
        *ending++ = 0;
        ending[strcspn(ending, "\n")] = 0;
        size = strlen(ending);
        found = size <= (size_t)length && strcmp(name + length - size, ending) == 0
            && is_meant(line, what);
    }
    fclose(list);
    if (found && strcmp(what, "sync") == 0)
        sync_has_failed = 1;
    errno = found ? EIO : before;
    return found;
}

#define REAL(function) \
    static __typeof__(&function) real; \
    if (real == NULL) \
        real = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

int fsync(int file)
{
    REAL(fsync);
    return fails("sync", file) ? -1 : real(file);
}

int fdatasync(int file)
{
    REAL(fdatasync);
    return fails("sync", file) ? -1 : real(file);
}

ssize_t write(int file, const void *bytes, size_t count)
{
    REAL(write);
    return fails("write", file) ? -1 : real(file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    REAL(pwrite);
    return fails("write", file) ? -1 : real(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset)
{
    REAL(pwrite64);
    return fails("write", file) ? -1 : real(file, bytes, count, offset);
}
