#define _GNU_SOURCE
#include "route_messages.h"

#include <errno.h>
#if defined(__linux__)
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

int shelfmark_open_route_messages(void) {
#if defined(__linux__)
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address;
  memset(&address, 0, sizeof address);
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (bind(descriptor, (const struct sockaddr *)&address, sizeof address) != 0) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
  }
  return descriptor;
#else
  errno = ENOTSUP;
  return -1;
#endif
}

ptrdiff_t shelfmark_read_route_messages(int descriptor, void *bytes, size_t count) {
#if defined(__linux__)
  struct sockaddr_nl sender;
  memset(&sender, 0, sizeof sender);
  socklen_t length = sizeof sender;
  // MSG_TRUNC has the call return how long the datagram was.
  ssize_t received =
      recvfrom(descriptor, bytes, count, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
  if (received > 0 && (length < sizeof sender || sender.nl_family != AF_NETLINK || sender.nl_pid != 0)) return 0;
  return received;
#else
  (void)descriptor, (void)bytes, (void)count;
  errno = ENOTSUP;
  return -1;
#endif
}
