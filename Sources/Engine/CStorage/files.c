#define _GNU_SOURCE
#include "CStorage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#include <sys/stat.h>
#include <sys/statvfs.h>
#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif
#include <unistd.h>

int shelfmark_openat(int directory, const char *name, int flags, unsigned mode) {
  return openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode);
}

int shelfmark_open_directory(const char *path) {
  return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int shelfmark_unnamed_file(void) {
#if defined(__linux__)
  return memfd_create("shelfmark", MFD_CLOEXEC);
#else
  char path[1024];
  const char *directory = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/shelfmark.XXXXXX", directory ? directory : "/tmp");
  int descriptor = mkstemp(path);
  if (descriptor < 0) return -1;
  unlink(path);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
#endif
}

#if defined(F_OFD_SETLK)
static int set_lock(int descriptor, short type) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}
#endif

void shelfmark_unlock(int descriptor) {
#if defined(F_OFD_SETLK)
  set_lock(descriptor, F_UNLCK);
#else
  flock(descriptor, LOCK_UN);
#endif
}

int shelfmark_lock(int descriptor) {
#if defined(F_OFD_SETLK)
  return set_lock(descriptor, F_WRLCK);
#else
  int result = flock(descriptor, LOCK_EX | LOCK_NB);
  if (result < 0 && errno == EWOULDBLOCK) errno = EAGAIN;
  return result;
#endif
}

uint64_t shelfmark_process_namespace(void) {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

int shelfmark_sync_data(int descriptor) {
#if defined(F_FULLFSYNC)
  return fcntl(descriptor, F_FULLFSYNC);
#else
  return fdatasync(descriptor);
#endif
}

void shelfmark_start_sync(int descriptor, int64_t offset, int64_t count) {
#if defined(SYNC_FILE_RANGE_WRITE)
  int saved = errno;
  (void)sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
  errno = saved;
#else
  (void)descriptor, (void)offset, (void)count;
#endif
}

void shelfmark_release(int descriptor, int64_t offset, int64_t count) {
#if defined(FALLOC_FL_PUNCH_HOLE)
  int saved = errno;
  (void)fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
  errno = saved;
#else
  (void)descriptor, (void)offset, (void)count;
#endif
}

ptrdiff_t shelfmark_copy_range(int from, int to, int64_t offset, size_t count) {
#if defined(__linux__)
  off_t source = offset, target = offset;
  return copy_file_range(from, &source, to, &target, count, 0);
#else
  (void)from, (void)to, (void)offset, (void)count;
  errno = ENOSYS;
  return -1;
#endif
}

int shelfmark_file_system(int descriptor, uint32_t *magic, char *remote_name) {
  struct statfs status;
  int result;
  do result = fstatfs(descriptor, &status);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -1;
  *magic = 0;
  remote_name[0] = 0;
#if defined(__linux__)
  *magic = (uint32_t)status.f_type;
#elif defined(MNT_LOCAL)
  if (!(status.f_flags & MNT_LOCAL)) snprintf(remote_name, 32, "%s", status.f_fstypename);
#endif
  return 0;
}

int64_t shelfmark_available_bytes(int descriptor) {
  struct statvfs status;
  int result;
  do result = fstatvfs(descriptor, &status);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -1;
  uint64_t unit = status.f_frsize ? status.f_frsize : status.f_bsize;
  uint64_t bytes;
  if (__builtin_mul_overflow(unit, (uint64_t)status.f_bavail, &bytes) || bytes > INT64_MAX) return INT64_MAX;
  return (int64_t)bytes;
}
