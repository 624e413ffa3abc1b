// Datagrams to the service manager that started this process.

#ifndef SHELFMARK_SERVICE_MANAGER_H
#define SHELFMARK_SERVICE_MANAGER_H

#include <stddef.h>

/// Sends `count` bytes as one datagram to the Unix socket at the `path_count` bytes of `path`, which need no zero behind them; a
/// path that begins with `@` or with a zero byte is a name in the abstract name space of Linux. Waits up to `timeout_milliseconds`
/// for a receiver that is busy. Returns 0, or -1 with errno set: ENAMETOOLONG for a path that no address holds.
int shelfmark_send_datagram(const char *_Nonnull path, size_t path_count, const void *_Nonnull bytes, size_t count,
                            int timeout_milliseconds);

#endif
