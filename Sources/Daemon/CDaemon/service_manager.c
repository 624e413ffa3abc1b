#define _GNU_SOURCE
#include "service_manager.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int shelfmark_send_datagram(const char *path, size_t path_count, const void *bytes, size_t count,
                            int timeout_milliseconds) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  // A path keeps a zero behind it; an abstract name is told by the address's length.
  if (path_count == 0) {
    errno = EINVAL;
    return -1;
  }
  if (path_count >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address.sun_path, path, path_count);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_count);
  if (address.sun_path[0] == '@') address.sun_path[0] = 0;
  if (address.sun_path[0] != 0) length += 1;

  int descriptor = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (descriptor < 0) return -1;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  struct timeval timeout = {.tv_sec = timeout_milliseconds / 1000, .tv_usec = timeout_milliseconds % 1000 * 1000};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
#if defined(MSG_NOSIGNAL)
  int flags = MSG_NOSIGNAL;
#else
  int flags = 0;
#endif
  ssize_t sent;
  do {
    sent = sendto(descriptor, bytes, count, flags, (const struct sockaddr *)&address, length);
  } while (sent < 0 && errno == EINTR);
  int error = sent < 0 ? errno : 0;
  close(descriptor);
  errno = error;
  return sent < 0 ? -1 : 0;
}
