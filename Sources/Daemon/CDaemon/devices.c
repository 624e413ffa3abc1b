#define _GNU_SOURCE
#include "devices.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#if defined(__linux__)
#include <linux/input.h>
#endif

int shelfmark_grab_keyboard(int descriptor, int grabs) {
#if defined(__linux__)
  // The argument itself says which, and is no pointer: zero lets go.
  return ioctl(descriptor, EVIOCGRAB, grabs ? 1L : 0L);
#else
  (void)descriptor;
  (void)grabs;
  errno = ENOTSUP;
  return -1;
#endif
}

int shelfmark_claim_terminal(int descriptor, int claims) {
  return ioctl(descriptor, claims ? TIOCEXCL : TIOCNXCL);
}

int shelfmark_lock_device(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB);
}

int shelfmark_open_device(const char *path, int flags) {
  return open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}
