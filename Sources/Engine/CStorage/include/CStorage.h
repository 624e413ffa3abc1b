// The calls of the operating system that Swift cannot make itself, because their number of arguments varies or because they
// differ between systems, a cache hint, and the handler of SIGBUS.

#ifndef SHELFMARK_CSTORAGE_H
#define SHELFMARK_CSTORAGE_H

#include <stddef.h>
#include <stdint.h>

#include "mapping_guard.h"

/// Asks for the cache line at `address` ahead of its use. Any address may be named.
static inline void shelfmark_prefetch(const void *_Nullable address) {
  __builtin_prefetch(address, 0, 3);
}

/// Opens `name` in the directory `directory`. Never follows a link in the last component, closes on exec.
/// Returns a descriptor, or -1 with errno set.
int shelfmark_openat(int directory, const char *_Nonnull name, int flags, unsigned mode);

/// Opens the directory at `path`, which may lead through links; closes on exec. Returns as above.
int shelfmark_open_directory(const char *_Nonnull path);

/// Opens a new file without a name, in memory where the system has such files, else in the directory for temporary files. It
/// goes with its last descriptor; closes on exec. Returns as above.
int shelfmark_unnamed_file(void);

/// Takes an exclusive lock on the whole file without waiting: -1 with errno EAGAIN when someone else has it.
/// It belongs to the open file, not to the process: an OFD lock on Linux, flock elsewhere.
int shelfmark_lock(int descriptor);

/// Gives the lock up, also for children of this process that share the open file.
void shelfmark_unlock(int descriptor);

/// The number of the PID namespace of this process: the inode of /proc/self/ns/pid; 0 where that is not there.
uint64_t shelfmark_process_namespace(void);

/// What kind of file system an open file or directory lies on: `*magic` is the number that the Linux kernel gives it, 0 on
/// other systems; `remote_name` (32 bytes) is its name where an Apple system says that it is not local, else empty.
/// -1 with errno set on failure.
int shelfmark_file_system(int descriptor, uint32_t *_Nonnull magic, char *_Nonnull remote_name);

/// Bytes that a program without privileges may still write to the file system of an open file or directory; -1 with errno
/// set on failure.
int64_t shelfmark_available_bytes(int descriptor);

/// Copies up to `count` bytes from one file to the same place of another within the system, sharing them where both lie on a
/// file system that can. Returns how many, 0 at the end of the file, or -1 with errno set, ENOSYS where there is no such call.
ptrdiff_t shelfmark_copy_range(int from, int to, int64_t offset, size_t count);

/// Makes written data and the length of a file durable: fdatasync, on Apple systems F_FULLFSYNC.
int shelfmark_sync_data(int descriptor);

/// Begins to write `count` bytes from `offset` on to the device, where the system has a call for that, and does not wait.
/// What comes of it the next sync tells.
void shelfmark_start_sync(int descriptor, int64_t offset, int64_t count);

/// Gives the space of `count` bytes from `offset` on back to the file system, which then read as zeros, where the system has a
/// call for that. The length of the file stays. A hint: nothing is told of what comes of it.
void shelfmark_release(int descriptor, int64_t offset, int64_t count);

#endif
