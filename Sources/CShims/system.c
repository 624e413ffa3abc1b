#define _GNU_SOURCE
#include "CShims.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int shelfmark_openat(int directory, const char *name, int flags, unsigned mode) {
  return openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode);
}

int shelfmark_open_directory(const char *path) {
  return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int shelfmark_lock(int descriptor) {
#if defined(F_OFD_SETLK)
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_SETLK, &lock);
#else
  int result = flock(descriptor, LOCK_EX | LOCK_NB);
  if (result < 0 && errno == EWOULDBLOCK) errno = EAGAIN;
  return result;
#endif
}

int shelfmark_sync_data(int descriptor) {
#if defined(F_FULLFSYNC)
  return fcntl(descriptor, F_FULLFSYNC);
#else
  return fdatasync(descriptor);
#endif
}
