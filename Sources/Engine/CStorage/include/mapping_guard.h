// A mapped file of which a part cannot be read any more: someone truncated it, or its disk fails. The system answers a
// touch with SIGBUS, whose default ends the process. The guard puts a page of zeros there instead, which no checksum
// passes, and remembers that the range lost something.

#ifndef SHELFMARK_MAPPING_GUARD_H
#define SHELFMARK_MAPPING_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shelfmark_range;

/// Enters `count` bytes of memory from `start` on, page-aligned and mapped from a file to be read, into the table of what
/// the handler may replace. NULL if there is no memory to enter it. Any thread may call it, at any time.
struct shelfmark_range *_Nullable shelfmark_guard(const void *_Nonnull start, size_t count);

/// Takes a range out again: after its last use, before its memory is given back.
void shelfmark_unguard(struct shelfmark_range *_Nonnull range);

/// Whether a page of the range was replaced by zeros. What was read from the range before a call that says no is what the
/// file held.
bool shelfmark_is_lost(const struct shelfmark_range *_Nonnull range);

/// Installs the handler of SIGBUS, once for the process; later calls change nothing. What is not a fault in a guarded
/// range goes to the handler that was installed before. Returns -1 with errno set.
///
/// Linux and Darwin both raise SIGBUS where a mapped file has no page to show; SIGSEGV means an address that is not
/// mapped at all, and is left alone.
int shelfmark_install_guard(void);

#endif
