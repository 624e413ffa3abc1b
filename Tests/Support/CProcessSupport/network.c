#define _GNU_SOURCE
#include "CProcessSupport.h"

#include <errno.h>
#if defined(__linux__)
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void fill(struct ifreq *request, const char *name) {
  memset(request, 0, sizeof *request);
  strncpy(request->ifr_name, name, sizeof request->ifr_name - 1);
}

int process_isolate_network(void) { return unshare(CLONE_NEWNET); }

int process_open_tunnel(const char *name) {
  int descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct ifreq request;
  fill(&request, name);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(descriptor, TUNSETIFF, &request) != 0) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
  }
  return descriptor;
}

int process_turn_interface(const char *name, int on) {
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  struct ifreq request;
  fill(&request, name);
  int result = ioctl(descriptor, SIOCGIFFLAGS, &request);
  if (result == 0) {
    request.ifr_flags = (short)(on ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
    result = ioctl(descriptor, SIOCSIFFLAGS, &request);
  }
  int error = errno;
  close(descriptor);
  errno = error;
  return result;
}

int process_give_address(const char *name, const char *address) {
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  struct ifreq request;
  fill(&request, name);
  struct sockaddr_in own;
  memset(&own, 0, sizeof own);
  own.sin_family = AF_INET;
  inet_pton(AF_INET, address, &own.sin_addr);
  memcpy(&request.ifr_addr, &own, sizeof own);
  int result = ioctl(descriptor, SIOCSIFADDR, &request);
  int error = errno;
  close(descriptor);
  errno = error;
  return result;
}
#else
int process_isolate_network(void) {
  errno = ENOTSUP;
  return -1;
}

int process_open_tunnel(const char *name) {
  (void)name;
  errno = ENOTSUP;
  return -1;
}

int process_turn_interface(const char *name, int on) {
  (void)name, (void)on;
  errno = ENOTSUP;
  return -1;
}

int process_give_address(const char *name, const char *address) {
  (void)name, (void)address;
  errno = ENOTSUP;
  return -1;
}
#endif
