/* A disk below SQLite, for the simulation: loaded before libc (LD_PRELOAD), told by `platter.py`.

   What processes read and write in one folder are its real files; they are the page cache. This
   library remembers beside them what of it is on the disk. For every page that was written since
   the last honest fsync it keeps the bytes that the disk has, and the states between, so what a
   power loss leaves can be made: each sector of 512 bytes old, new, or between, in any order. For
   every name that was made, renamed or removed it keeps how to undo that, until an fsync of the
   folder. Nothing is copied but the pages that change.

   It can fail a write (ENOSPC, EIO, short ones), fail an fsync as Linux does (the error is
   reported once by each open file; then the pages count as clean, and are not on the disk), lie
   in an fsync (0, and nothing is made durable), and die in the middle of an operation: from then
   on nothing changes the folder. One thread at a time uses it. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
#define SECTOR 512
#define FDS 65536
#define MOST_PAGES 32768 /* kept at once; beyond it everything is written back */
#define MOST_CHANGES 128 /* of names; the journal of a file system is written now and then */
#define BOUNDARIES 65536 /* lies that are told apart */

/* What Python reads and sets (`platter.Control`). */
struct control {
    int64_t frozen;        /* nothing changes the folder any more: who did it is dead */
    int64_t dies_in;       /* the operation from now on in which everything dies; 0 is never */
    int64_t has_died;      /* whether that has come */
    int64_t durable;       /* whether another machine is at work: what it does is on its disk */
    int64_t writes_fail;   /* of 1000 */
    int64_t write_errno;   /* ENOSPC or EIO */
    int64_t syncs_fail;    /* of 1000 */
    int64_t sync_fails_in; /* the fsync from now on that fails; 0 is none */
    int64_t dies_later;    /* `dies_in` from an fsync that fails on; 0 is never */
    int64_t syncs_lie;     /* whether each fsync of a file or a folder lies */
    int64_t folders_lie;   /* whether each fsync of a folder does nothing, for ever */
    int64_t lied;          /* lies that no honest fsync has made true since */
    int64_t adrift;        /* pages that a failed fsync has left clean, and that are not there */
    int64_t operations, writes, syncs, failed_writes, failed_syncs, lies, losses, torn;
};
struct control platter_control;
#define C platter_control

/* Chance. */

static uint64_t chance_state = 88172645463325252ULL;

static uint64_t chance(void) {
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state * 2685821657736338717ULL >> 11;
}

static uint64_t below(uint64_t n) { return n ? chance() % n : 0; }
static int one_in(uint64_t n) { return below(n) == 0; }

/* The functions of libc. */

#define REAL(result, name, ...)                                                                    \
    static result (*real_##name)(__VA_ARGS__);                                                     \
    if (!real_##name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name)

static int really_open(int folder, const char *path, int flags, mode_t mode) {
    REAL(int, openat, int, const char *, int, ...);
    return real_openat(folder, path, flags, mode);
}
static int really_close(int fd) {
    REAL(int, close, int);
    return real_close(fd);
}
static ssize_t really_write(int fd, const void *bytes, size_t n) {
    REAL(ssize_t, write, int, const void *, size_t);
    return real_write(fd, bytes, n);
}
static ssize_t really_pwrite(int fd, const void *bytes, size_t n, off_t at) {
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    return real_pwrite(fd, bytes, n, at);
}
static int really_truncate(int fd, off_t size) {
    REAL(int, ftruncate, int, off_t);
    return real_ftruncate(fd, size);
}
static int really_unlink(int folder, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    return real_unlinkat(folder, path, flags);
}
static int really_rename(int from, const char *old, int to, const char *new) {
    REAL(int, renameat, int, const char *, int, const char *);
    return real_renameat(from, old, to, new);
}
static int really_mkdir(int folder, const char *path, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    return real_mkdirat(folder, path, mode);
}

/* What is remembered. */

struct state { /* of a page: these bytes were there until that instant */
    uint64_t until;
    unsigned char *bytes;
};
struct page {
    struct page *next;
    size_t number;
    int states;          /* the first of them is what the disk has */
    int in_epoch;        /* states that were kept since the last fsync of anything */
    uint64_t epoch;
    int is_adrift;
    struct state *state;
};
struct size {
    uint64_t until;
    off_t size;
};
struct node { /* a file, by whatever name */
    struct node *next;
    dev_t device;
    ino_t number;
    int fd;              /* of our own, to read what is there before it is overwritten */
    int users;           /* open descriptors, and names that may come back */
    uint64_t errors;     /* failed fsyncs, as errseq_t counts them */
    struct page **page;  /* by number */
    size_t pages;
    struct page *changed;
    struct size *size;   /* until the last fsync of it */
    int sizes;
};
struct descriptor {
    struct node *node;
    char *folder;        /* of a descriptor of a folder */
    uint64_t errors;     /* that its owner knows of */
    int appends;
};
enum deed { MADE, REMOVED, RENAMED, MADE_FOLDER, REMOVED_FOLDER };
struct change { /* of a name, not yet durable */
    struct change *before;
    enum deed deed;
    uint64_t at;
    char *path, *old;    /* what it is called now, and what it was called before a rename */
    int kept;            /* descriptor of what was there under the name, -1 for nothing */
    struct node *node;
    mode_t mode;
};

static char root[PATH_MAX];
static size_t root_length;
static char books[PATH_MAX];
static struct descriptor descriptors[FDS];
static struct node *nodes;
static struct change *changes; /* the newest first */
static int changes_kept;
static uint64_t instant, epoch;
static size_t pages_kept;
static uint64_t boundary[BOUNDARIES]; /* the instants of lies, and of what was true before them */
static int boundaries;
static uint64_t last_honest;

static int ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), end = strlen(ending);
    return length >= end && !strcmp(path + length - end, ending);
}

/* Memory that is shared by mapping a file is no part of the disk. */
static int is_memory(const char *path) { return ends_with(path, "-shm"); }

static int is_below_root(const char *path) {
    return root_length && !strncmp(path, root, root_length) &&
           (path[root_length] == '/' || path[root_length] == 0) && !is_memory(path);
}

static int is_of_books(const char *path) { return !strncmp(path, books, strlen(books)); }

/* Write the whole path to `whole`; whether it is below the folder. */
static int resolve(int folder, const char *path, char *whole) {
    if (!root_length || !path) return 0;
    if (path[0] == '/') {
        if (strlen(path) >= PATH_MAX) return 0;
        strcpy(whole, path);
    } else {
        char link[64];
        ssize_t n = 0;
        if (folder == AT_FDCWD) {
            if (!getcwd(whole, PATH_MAX)) return 0;
            n = strlen(whole);
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            n = readlink(link, whole, PATH_MAX - 1);
            if (n < 0) return 0;
        }
        if (n + strlen(path) + 2 > PATH_MAX) return 0;
        whole[n] = 0;
        if (strcmp(path, ".")) { /* else it is the folder itself */
            whole[n] = '/';
            strcpy(whole + n + 1, path);
        }
    }
    return is_below_root(whole);
}

static void free_page(struct node *node, struct page *page) {
    for (int i = 0; i < page->states; i++) free(page->state[i].bytes);
    pages_kept -= page->states;
    if (page->is_adrift) C.adrift--;
    node->page[page->number] = NULL;
    free(page->state);
    free(page);
}

/* Have the disk hold what the cache does. Pages adrift count as clean: they stay as they are. */
static void write_back(struct node *node, int adrift_too) {
    struct page **link = &node->changed;
    while (*link) {
        struct page *page = *link;
        if (page->is_adrift && !adrift_too) {
            link = &page->next;
            continue;
        }
        *link = page->next;
        free_page(node, page);
    }
    node->sizes = 0;
}

static void forget_unused(struct node **link) {
    struct node *node = *link;
    if (node->users || node->changed || node->sizes) return;
    *link = node->next;
    if (node->fd >= 0) really_close(node->fd);
    free(node->page);
    free(node->size);
    free(node);
}

static void forget_change(struct change *change) {
    changes_kept--;
    if (change->node) change->node->users--;
    if (change->kept >= 0) really_close(change->kept);
    free(change->path);
    free(change->old);
    free(change);
}

/* Whether pages of which the disk had lied were lost to an fsync that failed: no later one helps. */
static int lies_stay;

static void write_everything_back(void) {
    for (struct node *node = nodes; node; node = node->next) write_back(node, 0);
    while (changes) {
        struct change *change = changes;
        changes = change->before;
        forget_change(change);
    }
    if (!lies_stay) C.lied = 0;
    boundaries = 0;
}

static struct node *node_of(int fd) {
    struct stat found;
    if (fstat(fd, &found) || !S_ISREG(found.st_mode)) return NULL;
    struct node **link = &nodes;
    while (*link) {
        struct node *node = *link;
        if (node->number == found.st_ino && node->device == found.st_dev) return node;
        forget_unused(link);
        if (*link == node) link = &node->next;
    }
    struct node *node = calloc(1, sizeof *node);
    node->number = found.st_ino;
    node->device = found.st_dev;
    node->fd = -1;
    node->next = nodes;
    return nodes = node;
}

static int own_descriptor(struct node *node, int fd) {
    if (node->fd < 0) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        node->fd = really_open(AT_FDCWD, link, O_RDWR | O_CLOEXEC, 0);
    }
    return node->fd;
}

static off_t size_of(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : found.st_size;
}

static unsigned char *bytes_of(struct node *node, size_t number) {
    unsigned char *bytes = calloc(1, PAGE);
    ssize_t n = pread(node->fd, bytes, PAGE, (off_t)number * PAGE);
    if (n < 0) abort();
    return bytes;
}

static void keep_state(struct page *page, unsigned char *bytes) {
    page->state = realloc(page->state, (page->states + 1) * sizeof *page->state);
    page->state[page->states].until = instant;
    page->state[page->states++].bytes = bytes;
    pages_kept++;
}

/* A page is about to change: remember what it is now. */
static void before_page(struct node *node, size_t number) {
    if (number >= node->pages) {
        size_t pages = number + 64;
        node->page = realloc(node->page, pages * sizeof *node->page);
        memset(node->page + node->pages, 0, (pages - node->pages) * sizeof *node->page);
        node->pages = pages;
    }
    struct page *page = node->page[number];
    if (!page) {
        page = node->page[number] = calloc(1, sizeof *page);
        page->number = number;
        page->next = node->changed;
        node->changed = page;
    } else if (page->is_adrift) {
        page->is_adrift = 0;
        C.adrift--;
    } else if (page->epoch == epoch && page->in_epoch >= 3) {
        return;
    }
    if (page->epoch != epoch) page->in_epoch = 0;
    page->epoch = epoch;
    page->in_epoch++;
    keep_state(page, bytes_of(node, number));
}

static void before_size(struct node *node, off_t now) {
    node->size = realloc(node->size, (node->sizes + 1) * sizeof *node->size);
    node->size[node->sizes].until = instant;
    node->size[node->sizes++].size = now;
}

/* Bytes from `from` to `to` are about to change, and the size from `size` to `new_size`. */
static void before_change(struct node *node, int fd, off_t from, off_t to, off_t new_size) {
    if (own_descriptor(node, fd) < 0) return;
    if (pages_kept > MOST_PAGES) write_everything_back();
    instant++;
    off_t size = size_of(fd);
    for (off_t at = from / PAGE * PAGE; at < to; at += PAGE) before_page(node, at / PAGE);
    if (new_size != size) before_size(node, size);
}

/* Count an operation; whether everything dies in it. */
static int dies(void) {
    C.operations++;
    if (C.durable || !C.dies_in || --C.dies_in) return 0;
    C.has_died = C.frozen = 1;
    return 1;
}

/* Names. */

static char *folder_of(const char *path) {
    char *folder = strdup(path), *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    return folder;
}

static void note_change(
    enum deed deed, const char *path, const char *old, int kept, struct node *node, mode_t mode) {
    struct change *change = calloc(1, sizeof *change);
    change->deed = deed;
    change->at = ++instant;
    change->path = strdup(path);
    change->old = old ? strdup(old) : NULL;
    change->kept = kept;
    change->node = node;
    change->mode = mode;
    if (node) node->users++;
    change->before = changes;
    changes = change;
    if (++changes_kept <= MOST_CHANGES || C.lied) return;
    while (change->before && change->before->before) change = change->before;
    forget_change(change->before);
    change->before = NULL;
}

static int is_in(const char *path, const char *folder) {
    char *own = folder_of(path);
    int same = !strcmp(own, folder);
    free(own);
    return same;
}

static void names_are_durable(const char *folder) {
    struct change **link = &changes;
    while (*link) {
        struct change *change = *link;
        if (is_in(change->path, folder)) {
            *link = change->before;
            forget_change(change);
        } else {
            link = &change->before;
        }
    }
}

/* A name was changed for good: so was what was changed in its folder before, for journals keep order. */
static void is_durable_by_now(const char *path) {
    char *folder = folder_of(path);
    names_are_durable(folder);
    free(folder);
}

/* Whether another machine does this, whose disk is none of ours. */
static int is_durable_at_once(const char *path) {
    return C.durable > 1 || (C.durable && !is_of_books(path));
}

/* Keep what is about to lose its name, so that it can have it again. */
static int keep(const char *path, struct node **node) {
    int fd = really_open(AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0);
    *node = fd < 0 ? NULL : node_of(fd);
    if (fd >= 0 && !*node) {
        really_close(fd);
        fd = -1;
    }
    if (*node) own_descriptor(*node, fd);
    return fd;
}

/* What stands in for the functions of libc. */

/* Whether another machine writes a file: by the name of its descriptor. */
static int writes_elsewhere(int fd) {
    if (!C.durable) return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return is_durable_at_once(path);
}

static int fail(int number) {
    errno = number;
    return -1;
}

/* A descriptor is new: what was known of an older one of that number counts no more. */
static void forget_descriptor(int fd) {
    if (fd < 0 || fd >= FDS) return;
    struct descriptor *descriptor = &descriptors[fd];
    if (descriptor->node) descriptor->node->users--;
    free(descriptor->folder);
    memset(descriptor, 0, sizeof *descriptor);
}

static int disk_open(int folder, const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    if (!resolve(folder, path, whole)) {
        int fd = really_open(folder, path, flags, mode);
        forget_descriptor(fd);
        return fd;
    }
    struct stat found;
    int was_there = !lstat(whole, &found);
    int makes = !was_there && flags & O_CREAT;
    int cuts = was_there && flags & O_TRUNC && S_ISREG(found.st_mode) && found.st_size;
    if ((makes || cuts) && !is_durable_at_once(whole) && (C.frozen || dies())) return fail(EIO);
    int fd = really_open(folder, path, cuts ? flags & ~O_TRUNC : flags, mode);
    if (fd < 0 || fd >= FDS) return fd;
    forget_descriptor(fd);
    struct descriptor *descriptor = &descriptors[fd];
    if (fstat(fd, &found)) return fd;
    if (S_ISDIR(found.st_mode)) {
        descriptor->folder = strdup(whole);
        return fd;
    }
    struct node *node = node_of(fd);
    if (!node) return fd;
    descriptor->node = node;
    descriptor->errors = node->errors;
    descriptor->appends = !!(flags & O_APPEND);
    node->users++;
    if (makes && is_durable_at_once(whole)) is_durable_by_now(whole);
    else if (makes) note_change(MADE, whole, NULL, -1, NULL, 0);
    if (cuts) {
        before_change(node, fd, 0, found.st_size, 0);
        if (really_truncate(fd, 0)) return fd;
        if (is_durable_at_once(whole)) write_back(node, 1);
    }
    return fd;
}

#define OPEN(name, ...)                                                                            \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                         \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

int open(const char *path, int flags, ...) {
    OPEN(open)
    return disk_open(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    OPEN(open64)
    return disk_open(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    OPEN(openat)
    return disk_open(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    OPEN(openat64)
    return disk_open(folder, path, flags | O_LARGEFILE, mode);
}
int __open_2(const char *path, int flags) { return disk_open(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return disk_open(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode) {
    return disk_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

static struct descriptor *known(int fd) {
    struct descriptor *found = fd >= 0 && fd < FDS ? &descriptors[fd] : NULL;
    return found && (found->node || found->folder) ? found : NULL;
}

int close(int fd) {
    forget_descriptor(fd);
    return really_close(fd);
}

static ssize_t disk_write(int fd, const void *bytes, size_t n, off_t at, int is_at) {
    struct descriptor *descriptor = known(fd);
    if (!descriptor || !descriptor->node || !n)
        return is_at ? really_pwrite(fd, bytes, n, at) : really_write(fd, bytes, n);
    int elsewhere = writes_elsewhere(fd);
    if (C.frozen && !elsewhere) return fail(EIO);
    int dead = !elsewhere && dies(), error = 0;
    size_t room = n;
    C.writes++;
    if (dead) {
        room = below(n + 1);
    } else if (!elsewhere && C.writes_fail && below(1000) < (uint64_t)C.writes_fail) {
        error = C.write_errno;
        room = one_in(2) ? below(n) : 0;
        C.failed_writes++;
    }
    off_t size = size_of(fd);
    if (!is_at) at = descriptor->appends ? size : lseek(fd, 0, SEEK_CUR);
    ssize_t written = 0;
    if (room) {
        off_t end = at + (off_t)room;
        before_change(descriptor->node, fd, at < size ? at : size, end, end > size ? end : size);
        written = is_at ? really_pwrite(fd, bytes, room, at) : really_write(fd, bytes, room);
        if (elsewhere) write_back(descriptor->node, 1);
    }
    if (dead) return fail(EIO);
    if (error && written <= 0) return fail(error);
    return written;
}

ssize_t write(int fd, const void *bytes, size_t n) { return disk_write(fd, bytes, n, 0, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    return disk_write(fd, bytes, n, at, 1);
}
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    return disk_write(fd, bytes, n, at, 1);
}

int ftruncate(int fd, off_t new_size) {
    struct descriptor *descriptor = known(fd);
    if (!descriptor || !descriptor->node) return really_truncate(fd, new_size);
    int elsewhere = writes_elsewhere(fd);
    if (!elsewhere && (C.frozen || dies())) return fail(EIO);
    off_t size = size_of(fd);
    before_change(
        descriptor->node, fd, new_size < size ? new_size : size, new_size < size ? size : new_size,
        new_size);
    int result = really_truncate(fd, new_size);
    if (elsewhere) write_back(descriptor->node, 1);
    return result;
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int posix_fallocate(int fd, off_t at, off_t n) {
    struct descriptor *descriptor = known(fd);
    if (descriptor && descriptor->node) {
        if (C.frozen || dies()) return EIO;
        off_t size = size_of(fd), end = at + n > size ? at + n : size;
        before_change(descriptor->node, fd, size, end, end);
    }
    REAL(int, posix_fallocate, int, off_t, off_t);
    return real_posix_fallocate(fd, at, n);
}
int posix_fallocate64(int fd, off64_t at, off64_t n) { return posix_fallocate(fd, at, n); }

/* Between two cuts. Whatever a file was cut off by (ftruncate) is done as a whole or not at all: what
   was written later is there only if the cut is, and what was cut off never comes back after it. */
struct span {
    uint64_t after, until;
};

static int is_cut(struct node *node, int i, off_t now) {
    return node->size[i].size > (i + 1 < node->sizes ? node->size[i + 1].size : now);
}

/* All that came after the last cut, or after the last of so many cuts and before the next. */
static struct span span_of(struct node *node, off_t now, int cuts) {
    struct span span = {0, UINT64_MAX};
    for (int i = 0; i < node->sizes; i++) {
        if (!is_cut(node, i, now)) continue;
        if (cuts-- > 0) span.after = node->size[i].until;
        else if (span.until == UINT64_MAX) span.until = node->size[i].until;
    }
    return span;
}

static int cuts_of(struct node *node, off_t now) {
    int cuts = 0;
    for (int i = 0; i < node->sizes; i++) cuts += is_cut(node, i, now);
    return cuts;
}

/* Whether a page was cut off, wholly or in part, by a cut that has lasted. */
static int was_cut_off(struct node *node, struct page *page, off_t now, struct span span) {
    for (int i = 0; i < node->sizes && node->size[i].until <= span.after; i++) {
        off_t left = i + 1 < node->sizes ? node->size[i + 1].size : now;
        if (is_cut(node, i, now) && left < (off_t)(page->number + 1) * PAGE) return 1;
    }
    return 0;
}

/* The states of a page that the disk may have: from `first` to `last`, which is `states` for now. */
static void possible(
    struct node *node, struct page *page, off_t now, struct span span, int *first, int *last) {
    int cut = was_cut_off(node, page, now, span);
    *first = 0;
    while (cut && *first < page->states && page->state[*first].until <= span.after) ++*first;
    *last = *first;
    while (*last < page->states && page->state[*last].until < span.until) ++*last;
}

/* A page as it would be when a write of it was cut off: any sector old, new, or between. */
static void tear(struct page *page, int first, int last, unsigned char *now, unsigned char *torn) {
    for (int sector = 0; sector < PAGE / SECTOR; sector++) {
        int chosen = first + (int)below(last - first + 1);
        unsigned char *from = chosen < page->states ? page->state[chosen].bytes : now;
        memcpy(torn + sector * SECTOR, from + sector * SECTOR, SECTOR);
    }
}

/* An fsync has failed: some pages are on the disk, the others never will be unless written anew. */
static void go_adrift(struct node *node) {
    uint64_t way = below(4); /* nothing is there, some pages are, some sectors, nearly everything */
    off_t size = size_of(node->fd);
    struct span span = span_of(node, size, INT_MAX);
    struct page **link = &node->changed;
    while (*link) {
        struct page *page = *link;
        if (!page->is_adrift) {
            if ((way == 1 && one_in(2)) || (way == 3 && !one_in(8))) {
                *link = page->next;
                free_page(node, page);
                continue;
            }
            int first, last;
            possible(node, page, size, span, &first, &last);
            unsigned char *there = calloc(1, PAGE), *now = bytes_of(node, page->number);
            if (way == 2) tear(page, first, last, now, there);
            else if (first < page->states) memcpy(there, page->state[first].bytes, PAGE);
            free(now);
            for (int i = 0; i < page->states; i++) free(page->state[i].bytes);
            pages_kept -= page->states - 1;
            page->states = 1;
            page->state[0].bytes = there;
            page->is_adrift = 1;
            C.adrift++;
        }
        link = &page->next;
    }
    node->sizes = 0; /* sizes are in the journal of the file system */
    node->errors++;
    C.failed_syncs++;
}

static int disk_sync(int fd) {
    struct descriptor *descriptor = known(fd);
    if (!descriptor) {
        REAL(int, fsync, int);
        return real_fsync(fd);
    }
    if (C.frozen) return fail(EIO);
    struct node *node = descriptor->node;
    C.syncs++;
    epoch++;
    instant++;
    if (dies()) {
        if (C.syncs_lie || C.lied || one_in(2)) return fail(EIO);
        if (node) write_back(node, 0);
        else names_are_durable(descriptor->folder);
        return fail(EIO);
    }
    int fails = C.sync_fails_in && !--C.sync_fails_in;
    if (fails || (C.syncs_fail && below(1000) < (uint64_t)C.syncs_fail)) {
        if (C.dies_later && !C.durable) C.dies_in = C.dies_later;
        lies_stay |= node && C.lied;
        if (node) go_adrift(node);
        if (node) descriptor->errors = node->errors;
        return fail(EIO);
    }
    if (C.syncs_lie) {
        if (!C.lied++) {
            boundary[0] = last_honest;
            boundaries = 1;
        }
        C.lies++;
        if (boundaries < BOUNDARIES) boundary[boundaries++] = instant;
        return 0;
    }
    if (C.lied) write_everything_back(); /* the disk empties its cache, of all files */
    last_honest = instant;
    if (node) {
        write_back(node, 0);
        if (descriptor->errors != node->errors) {
            descriptor->errors = node->errors;
            C.failed_syncs++;
            return fail(EIO);
        }
    } else if (!C.folders_lie) {
        names_are_durable(descriptor->folder);
    }
    return 0;
}

int fsync(int fd) { return disk_sync(fd); }
int fdatasync(int fd) { return disk_sync(fd); }

static int disk_unlink(int folder, const char *path, int flags) {
    char whole[PATH_MAX];
    if (!resolve(folder, path, whole)) return really_unlink(folder, path, flags);
    struct stat found;
    if (lstat(whole, &found)) return really_unlink(folder, path, flags);
    if (!is_durable_at_once(whole) && (C.frozen || dies())) return fail(EIO);
    if (is_durable_at_once(whole)) {
        is_durable_by_now(whole);
        return really_unlink(folder, path, flags);
    }
    struct node *node = NULL;
    int kept = S_ISREG(found.st_mode) ? keep(whole, &node) : -1;
    if (node) node->users++;
    int result = really_unlink(folder, path, flags);
    if (node) node->users--;
    if (result || (!S_ISDIR(found.st_mode) && !S_ISREG(found.st_mode))) {
        if (kept >= 0) really_close(kept);
        return result;
    }
    enum deed deed = S_ISDIR(found.st_mode) ? REMOVED_FOLDER : REMOVED;
    note_change(deed, whole, NULL, kept, node, found.st_mode & 07777);
    return result;
}

int unlink(const char *path) { return disk_unlink(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return disk_unlink(folder, path, flags); }
int remove(const char *path) { return disk_unlink(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return disk_unlink(AT_FDCWD, path, AT_REMOVEDIR); }

static int disk_rename(int from, const char *old, int to, const char *new) {
    char whole_old[PATH_MAX], whole_new[PATH_MAX];
    int old_ours = resolve(from, old, whole_old), new_ours = resolve(to, new, whole_new);
    if (!old_ours && !new_ours) return really_rename(from, old, to, new);
    if (!old_ours || !new_ours || is_durable_at_once(whole_new)) {
        if (old_ours) is_durable_by_now(whole_old);
        if (new_ours) is_durable_by_now(whole_new);
        return really_rename(from, old, to, new);
    }
    if (C.frozen || dies()) return fail(EIO);
    struct node *node = NULL;
    int kept = keep(whole_new, &node);
    if (node) node->users++;
    struct stat found;
    mode_t mode = kept >= 0 && !fstat(kept, &found) ? found.st_mode & 07777 : 0;
    int result = really_rename(from, old, to, new);
    if (node) node->users--;
    if (result) {
        if (kept >= 0) really_close(kept);
        return result;
    }
    note_change(RENAMED, whole_new, whole_old, kept, node, mode);
    return result;
}

int rename(const char *old, const char *new) { return disk_rename(AT_FDCWD, old, AT_FDCWD, new); }
int renameat(int from, const char *old, int to, const char *new) {
    return disk_rename(from, old, to, new);
}

static int disk_mkdir(int folder, const char *path, mode_t mode) {
    char whole[PATH_MAX];
    if (!resolve(folder, path, whole)) return really_mkdir(folder, path, mode);
    struct stat found;
    if (!lstat(whole, &found)) return really_mkdir(folder, path, mode);
    if (!is_durable_at_once(whole) && (C.frozen || dies())) return fail(EIO);
    int result = really_mkdir(folder, path, mode);
    if (!result && !is_durable_at_once(whole)) note_change(MADE_FOLDER, whole, NULL, -1, NULL, 0);
    return result;
}

int mkdir(const char *path, mode_t mode) { return disk_mkdir(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return disk_mkdir(folder, path, mode); }

/* What a power loss leaves. */

enum way { NOTHING, EVERYTHING, PAGES, SECTORS, IN_ORDER };

static off_t size_at(struct node *node, off_t now, uint64_t when) {
    for (int i = 0; i < node->sizes; i++)
        if (node->size[i].until > when) return node->size[i].size;
    return now;
}

static void lose_page(
    struct node *node, struct page *page, enum way way, uint64_t when, off_t now,
    struct span span) {
    unsigned char torn[PAGE], *left = NULL;
    if (page->is_adrift || way == NOTHING) {
        left = page->state[0].bytes;
    } else if (way == IN_ORDER) {
        for (int i = 0; i < page->states && !left; i++)
            if (page->state[i].until > when) left = page->state[i].bytes;
    } else if (way != EVERYTHING) {
        int first, last;
        possible(node, page, now, span, &first, &last);
        if (way == SECTORS) {
            unsigned char *bytes = bytes_of(node, page->number);
            tear(page, first, last, bytes, torn);
            free(bytes);
            left = torn;
            C.torn++;
        } else {
            int chosen = one_in(2) ? first : first + (int)below(last - first + 1);
            left = chosen < page->states ? page->state[chosen].bytes : NULL;
        }
    }
    if (left && really_pwrite(node->fd, left, PAGE, (off_t)page->number * PAGE) < 0) abort();
}

/* Of the sizes between two cuts any; the last one where there is no choice. */
static off_t some_size(struct node *node, off_t now, struct span span) {
    off_t size = now;
    uint64_t seen = 0;
    for (int i = 0; i <= node->sizes; i++) {
        uint64_t until = i < node->sizes ? node->size[i].until : UINT64_MAX;
        if (until <= span.after || until > span.until) continue;
        if (one_in(++seen)) size = i < node->sizes ? node->size[i].size : now;
    }
    return size;
}

static void lose_file(struct node *node, enum way way, uint64_t when) {
    if (node->fd < 0 || (!node->changed && !node->sizes)) return;
    off_t now = size_of(node->fd), left = now;
    struct span span = span_of(node, now, (int)below(cuts_of(node, now) + 1));
    if (node->sizes) {
        if (way == NOTHING) left = node->size[0].size;
        else if (way == IN_ORDER) left = size_at(node, now, when);
        else if (way != EVERYTHING) left = some_size(node, now, span);
    }
    for (struct page *page = node->changed; page; page = page->next)
        lose_page(node, page, way, when, now, span);
    if (really_truncate(node->fd, left)) abort();
}

static void remove_all(const char *path) {
    struct stat found;
    if (lstat(path, &found)) return;
    if (S_ISDIR(found.st_mode)) {
        DIR *folder = opendir(path);
        struct dirent *entry;
        while (folder && (entry = readdir(folder))) {
            char inner[PATH_MAX];
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
            if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < PATH_MAX)
                remove_all(inner);
        }
        if (folder) closedir(folder);
    }
    really_unlink(AT_FDCWD, path, S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0);
}

static void put_back(const char *path, int kept, mode_t mode) {
    if (kept < 0) return;
    int fd = really_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0) return; /* its folder is not there either */
    char bytes[65536];
    ssize_t n;
    for (off_t at = 0; (n = pread(kept, bytes, sizeof bytes, at)) > 0; at += n)
        if (really_write(fd, bytes, n) != n) abort();
    really_close(fd);
}

static void undo(struct change *change) {
    switch (change->deed) {
    case MADE:
    case MADE_FOLDER:
        remove_all(change->path);
        break;
    case REMOVED:
        put_back(change->path, change->kept, change->mode);
        break;
    case REMOVED_FOLDER:
        really_mkdir(AT_FDCWD, change->path, change->mode);
        break;
    case RENAMED:
        really_rename(AT_FDCWD, change->path, AT_FDCWD, change->old);
        put_back(change->path, change->kept, change->mode);
        break;
    }
}

/* Of the changes in one folder the first ones last, and the others are lost. */
static void lose_names(enum way way, uint64_t when) {
    uint64_t salt = chance();
    struct change *change = changes;
    changes = NULL;
    while (change) {
        int lasts = way == EVERYTHING || (way == IN_ORDER && change->at <= when);
        if (way == PAGES || way == SECTORS) {
            uint64_t cut = salt; /* an instant of its own for each folder, wherever the root is */
            char *folder = folder_of(change->path);
            for (char *letter = folder + root_length; *letter; letter++) cut = cut * 31 + (unsigned char)*letter;
            free(folder);
            cut ^= cut >> 29;
            lasts = cut % 4 == 0 || (cut % 4 == 1 && change->at <= (cut >> 8) % (instant + 1));
        }
        if (!lasts) undo(change);
        struct change *before = change->before;
        forget_change(change);
        change = before;
    }
}

static void forget_everything(void) {
    for (int fd = 0; fd < FDS; fd++) {
        if (!known(fd)) continue;
        free(descriptors[fd].folder);
        memset(&descriptors[fd], 0, sizeof descriptors[fd]);
    }
    while (changes) {
        struct change *change = changes;
        changes = change->before;
        forget_change(change);
    }
    for (struct node *node = nodes; node; node = node->next) {
        write_back(node, 1);
        node->users = 0;
    }
    while (nodes) forget_unused(&nodes);
    boundaries = 0;
    C.lied = lies_stay = 0;
}

/* What Python calls. */

/* Begin to watch a folder, in which the database is called `database`. */
void platter_begin(const char *folder, const char *database, uint64_t seed) {
    forget_everything();
    memset(&C, 0, sizeof C);
    root_length = 0;
    if (strlen(folder) >= PATH_MAX || strlen(database) >= PATH_MAX) return;
    strcpy(root, folder);
    strcpy(books, database);
    root_length = strlen(root);
    chance_state = seed * 2 + 1;
    instant = epoch = last_honest = 0;
    for (int i = 0; i < 8; i++) chance();
}

void platter_end(void) {
    forget_everything();
    root_length = 0;
}

/* Make the folder what a power loss would leave; all descriptors in it must be closed.
   A disk that has lied loses, if `in_order`, all that came after one moment since its first lie. */
int platter_lose_power(int in_order) {
    enum way way = below(5);
    uint64_t when = below(instant + 1);
    if (C.lied && in_order) {
        way = IN_ORDER;
        when = boundary[below(boundaries)];
    } else if (way == IN_ORDER && instant > 400) {
        when = instant - below(400); /* what is not durable is not old, in most files */
    }
    for (struct node *node = nodes; node; node = node->next) lose_file(node, way, when);
    lose_names(way, when);
    forget_everything();
    C.losses++;
    return way;
}

/* Drop clean pages from the cache: where an fsync has failed, the disk's are read from now on. */
void platter_evict(void) {
    for (struct node *node = nodes; node; node = node->next) {
        struct page **link = &node->changed;
        while (*link) {
            struct page *page = *link;
            if (!page->is_adrift) {
                link = &page->next;
                continue;
            }
            off_t at = (off_t)page->number * PAGE, size = size_of(node->fd);
            size_t n = at >= size ? 0 : size - at < PAGE ? (size_t)(size - at) : PAGE;
            if (n && really_pwrite(node->fd, page->state[0].bytes, n, at) < 0) abort();
            *link = page->next;
            free_page(node, page);
        }
    }
}

/* Pages that are kept in memory. */
uint64_t platter_pages(void) { return pages_kept; }
