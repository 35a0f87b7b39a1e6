/*
 * Preloaded into a bridge: counts its calls on the files of one folder, makes one of them fail, and writes down what they did.
 *
 *   SHIM_FOLDER  the folder, an absolute path
 *   SHIM_LOG     the file to write to; it must not be in the folder
 *   SHIM_FAULT   <call> <n> <action> <from>: what happens to the n-th call of this kind. Actions: `kill` ends the process before the
 *                call, `torn-kill` in the middle of a write; `short` writes half of it and says so, `torn` writes half of it and
 *                fails with EIO; a number fails with that errno; `wait` waits until the file SHIM_WHILE is gone. `from` is 1 where all
 *                later calls of this kind fail as well.
 *   SHIM_WHILE   a file outside of the folder: only calls that are made while it exists count and fail
 *   SHIM_DATA    1: the log has the bytes that are written, also those to standard output
 *
 * Each line of the log is `<call> <path> <offset> <length> <other path>`; with SHIM_DATA the bytes follow, and a line feed. A line
 * `fired …` says that the fault happened. A call that fails is not written down; one that sends is, before it does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { OPEN, WRITE, FSYNC, RENAME, UNLINK, TRUNCATE, MMAP, LINK, MKDIR, CALLS };
static const char *const names[CALLS] = {"open", "write", "fsync", "rename", "unlink", "truncate", "mmap", "link", "mkdir"};
enum action { PROCEED, FAIL, SHORT, TORN, TORN_KILL };

#define MOST_FDS 4096
static char *paths[MOST_FDS];
static char folder[PATH_MAX];
static size_t folder_length;
static int log_fd = -1, has_data;
static char while_file[PATH_MAX];
static struct { enum call call; unsigned long n; char action[16]; int from; } fault;
static unsigned long counts[CALLS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ({ static __typeof__(&name) found; if (!found) found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); found; })

__attribute__((constructor)) static void start(void) {
  const char *wanted = getenv("SHIM_FOLDER"), *file = getenv("SHIM_LOG"), *plan = getenv("SHIM_FAULT"), *data = getenv("SHIM_DATA");
  if (!wanted || !file) return;
  snprintf(folder, sizeof folder, "%s", wanted);
  has_data = data && *data == '1';
  const char *gate = getenv("SHIM_WHILE");
  if (gate) snprintf(while_file, sizeof while_file, "%s", gate);
  /* A number that no library closes by mistake. */
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
  syscall(SYS_close, fd);
  char call[16];
  fault.call = CALLS;
  if (plan && sscanf(plan, "%15s %lu %15s %d", call, &fault.n, fault.action, &fault.from) == 4)
    for (int c = 0; c < CALLS; c++)
      if (!strcmp(call, names[c])) fault.call = c;
  folder_length = strlen(folder);
}

static int is_ours(const char *path) {
  return folder_length && path && !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}
static void forget(int fd) {
  if (fd < 0 || fd >= MOST_FDS || !paths[fd]) return;
  free(paths[fd]);
  paths[fd] = NULL;
}
/* libuv closes without libc, so the number may be that of a socket by now. */
static const char *path_of(int fd) {
  if (fd < 0 || fd >= MOST_FDS || !paths[fd]) return NULL;
  struct stat found;
  if (fstat(fd, &found) || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) forget(fd);
  return paths[fd];
}

/* The path of a name that may be relative to an open folder. */
static const char *resolved(int at, const char *name, char *into) {
  const char *base = path_of(at);
  if (*name == '/' || !base) return name;
  snprintf(into, PATH_MAX, "%s/%s", base, name);
  return into;
}

static void note(const char *call, const char *path, long offset, size_t length, const char *other, const struct iovec *parts, int count) {
  char head[2 * PATH_MAX + 100];
  int size = snprintf(head, sizeof head, "%s %s %ld %zu %s\n", call, path, offset, length, other ? other : "-");
  int saved = errno;
  pthread_mutex_lock(&mutex);
  syscall(SYS_write, log_fd, head, size);
  if (has_data && parts) {
    size_t left = length;
    for (int n = 0; n < count && left > 0; n++) {
      size_t part = parts[n].iov_len < left ? parts[n].iov_len : left;
      syscall(SYS_write, log_fd, parts[n].iov_base, part);
      left -= part;
    }
    syscall(SYS_write, log_fd, "\n", 1);
  }
  pthread_mutex_unlock(&mutex);
  errno = saved;
}

/* What has to happen to this call. It does not return where the process has to end. */
static enum action meet(enum call call, const char *path) {
  if (*while_file && syscall(SYS_faccessat, AT_FDCWD, while_file, F_OK)) return PROCEED;
  unsigned long n = __sync_add_and_fetch(&counts[call], 1);
  if (fault.call != call || n < fault.n || (n > fault.n && !fault.from)) return PROCEED;
  if (n == fault.n) note("fired", path, (long)n, 0, NULL, NULL, 0);
  if (!strcmp(fault.action, "kill")) {
    syscall(SYS_kill, getpid(), SIGKILL);
    pause();
  }
  if (!strcmp(fault.action, "wait")) {
    while (!syscall(SYS_faccessat, AT_FDCWD, while_file, F_OK)) usleep(10000);
    return PROCEED;
  }
  if (!strcmp(fault.action, "torn-kill")) return TORN_KILL;
  if (!strcmp(fault.action, "short")) return SHORT;
  errno = EIO;
  if (!strcmp(fault.action, "torn")) return TORN;
  errno = atoi(fault.action);
  return FAIL;
}

static int opened(int fd, const char *path, int flags) {
  if (fd < 0 || fd >= MOST_FDS) return fd;
  free(paths[fd]);
  paths[fd] = strdup(path);
  note("open", path, flags, 0, NULL, NULL, 0);
  return fd;
}

#define OPENING(name, at, given, real)                                    \
  int mode = 0;                                                           \
  if (flags & (O_CREAT | O_TMPFILE)) {                                    \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    mode = va_arg(rest, int);                                             \
    va_end(rest);                                                         \
  }                                                                       \
  char buffer[PATH_MAX];                                                  \
  const char *path = resolved(at, given, buffer);                         \
  if (!is_ours(path)) {                                                   \
    int other = real;                                                     \
    forget(other);                                                        \
    return other;                                                         \
  }                                                                       \
  if (meet(OPEN, path) != PROCEED) return -1;                             \
  return opened(real, path, flags);

int open(const char *name, int flags, ...) { OPENING(open, AT_FDCWD, name, REAL(open)(name, flags, mode)) }
int open64(const char *name, int flags, ...) { OPENING(open64, AT_FDCWD, name, REAL(open64)(name, flags, mode)) }
int openat(int at, const char *name, int flags, ...) { OPENING(openat, at, name, REAL(openat)(at, name, flags, mode)) }
int openat64(int at, const char *name, int flags, ...) { OPENING(openat64, at, name, REAL(openat64)(at, name, flags, mode)) }

int close(int fd) {
  if (fd == log_fd && fd >= 0) return 0;
  forget(fd);
  return REAL(close)(fd);
}

/* Writes through one of the calls of libc. `offset` -1: where the file is. */
static ssize_t written(int fd, const struct iovec *parts, int count, off_t offset, ssize_t (*write_all)(int, const struct iovec *, int, off_t)) {
  const char *path = path_of(fd);
  size_t length = 0;
  for (int n = 0; n < count; n++) length += parts[n].iov_len;
  if (!path) {
    if (fd == STDOUT_FILENO && has_data) note("send", "stdout", 0, length, NULL, parts, count);
    return write_all(fd, parts, count, offset);
  }
  off_t at = offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR);
  enum action action = meet(WRITE, path);
  if (action == FAIL) return -1;
  if (action != PROCEED && length > 1) {
    struct iovec half = {parts[0].iov_base, parts[0].iov_len > length / 2 ? length / 2 : parts[0].iov_len};
    ssize_t some = write_all(fd, &half, 1, offset);
    if (action == TORN_KILL) {
      syscall(SYS_kill, getpid(), SIGKILL);
      pause();
    }
    if (some > 0) note("write", path, (long)at, (size_t)some, NULL, &half, 1);
    if (action == SHORT) return some;
    errno = EIO;
    return -1;
  }
  ssize_t done = write_all(fd, parts, count, offset);
  if (done >= 0) note("write", path, (long)at, (size_t)done, NULL, parts, count);
  return done;
}
static ssize_t by_writev(int fd, const struct iovec *parts, int count, off_t offset) { (void)offset; return REAL(writev)(fd, parts, count); }
static ssize_t by_pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return REAL(pwritev)(fd, parts, count, offset); }
#define ONE(data, length) (&(struct iovec){(void *)(data), length})
ssize_t write(int fd, const void *data, size_t length) { return written(fd, ONE(data, length), 1, -1, by_writev); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return written(fd, parts, count, -1, by_writev); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return written(fd, ONE(data, length), 1, at, by_pwritev); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) { return written(fd, ONE(data, length), 1, at, by_pwritev); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return written(fd, parts, count, at, by_pwritev); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return written(fd, parts, count, at, by_pwritev); }

/* A call on a path or a descriptor that has nothing to log but its names. */
#define PLAIN(call, path, offset, other, real)                            \
  const char *own = path;                                                 \
  if (!own || !is_ours(own)) return real;                                 \
  if (meet(call, own) != PROCEED) return -1;                              \
  int done = real;                                                        \
  if (done == 0) note(names[call], own, offset, 0, other, NULL, 0);       \
  return done;

int fsync(int fd) { PLAIN(FSYNC, path_of(fd), 0, NULL, REAL(fsync)(fd)) }
int fdatasync(int fd) { PLAIN(FSYNC, path_of(fd), 0, NULL, REAL(fdatasync)(fd)) }
int ftruncate(int fd, off_t size) { PLAIN(TRUNCATE, path_of(fd), size, NULL, REAL(ftruncate)(fd, size)) }
int ftruncate64(int fd, off64_t size) { PLAIN(TRUNCATE, path_of(fd), size, NULL, REAL(ftruncate64)(fd, size)) }
int rename(const char *from, const char *to) { PLAIN(RENAME, from, 0, to, REAL(rename)(from, to)) }
int link(const char *from, const char *to) { PLAIN(LINK, from, 0, to, REAL(link)(from, to)) }
int unlink(const char *path) { PLAIN(UNLINK, path, 0, NULL, REAL(unlink)(path)) }
int rmdir(const char *path) { PLAIN(UNLINK, path, 0, NULL, REAL(rmdir)(path)) }
int remove(const char *path) { PLAIN(UNLINK, path, 0, NULL, REAL(remove)(path)) }
int mkdir(const char *path, mode_t mode) { PLAIN(MKDIR, path, 0, NULL, REAL(mkdir)(path, mode)) }
int unlinkat(int at, const char *name, int flags) {
  char buffer[PATH_MAX];
  PLAIN(UNLINK, resolved(at, name, buffer), 0, NULL, REAL(unlinkat)(at, name, flags))
}

static int is_refused(int fd) {
  const char *path = path_of(fd);
  if (!path) return 0;
  if (meet(MMAP, path) != PROCEED) return 1;
  note("mmap", path, 0, 0, NULL, NULL, 0);
  return 0;
}
void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
  return is_refused(fd) ? MAP_FAILED : REAL(mmap)(at, length, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
  return is_refused(fd) ? MAP_FAILED : REAL(mmap64)(at, length, protection, flags, fd, offset);
}
