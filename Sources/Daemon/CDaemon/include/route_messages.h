// What the kernel of Linux says of interfaces, addresses and routes when they change (rtnetlink).

#ifndef SHELFMARK_ROUTE_MESSAGES_H
#define SHELFMARK_ROUTE_MESSAGES_H

#include <stddef.h>

/// Opens a socket that gets these messages for links, and for IPv4 and IPv6 addresses and routes, of the network namespace of
/// the calling thread; closes on exec, and never waits. Returns a descriptor, or -1 with errno set: ENOTSUP on other systems.
int shelfmark_open_route_messages(void);

/// Reads the next datagram into `bytes`, which have room for `count`. Returns its length, which may be more than `count`, of
/// which nothing is there then; 0 for one that is not the kernel's; or -1 with errno set: EAGAIN where there is none, ENOBUFS
/// where some were lost.
ptrdiff_t shelfmark_read_route_messages(int descriptor, void *_Nonnull bytes, size_t count);

#endif
