// The few things that Swift cannot say itself: one processor instruction for the checksum, one cache hint,
// the search of a bucket, system calls with a variable number of arguments, and a signal handler.

#ifndef SHELFMARK_CSHIMS_H
#define SHELFMARK_CSHIMS_H

#include <stddef.h>
#include <stdint.h>

#include "mapping_guard.h"
#include "route_messages.h"
#include "service_manager.h"
#include "text_encoding.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// CRC-32C (Castagnoli) of `count` bytes, going on from `crc`, which is 0 at the start.
/// Uses the processor's instruction where there is one; the table it falls back on gives the same value.
uint32_t shelfmark_crc32c(uint32_t crc, const void *_Nonnull bytes, size_t count);

/// Whether the first four of `count` bytes are the CRC-32C of the four bytes of `unit` and then of the other bytes:
/// the check of every object and bucket. `count` is at least 4.
int shelfmark_is_whole(const void *_Nonnull bytes, size_t count, uint32_t unit);

/// The second word of the object at `object`, whose bits 0 to 23 tell its length: 0 if that is below 8 or above `room`, or if
/// the object does not pass the check above. `room` is at least 8.
uint32_t shelfmark_whole_object(const void *_Nonnull object, size_t room, uint32_t unit);

/// What an index bucket of 64 bytes says about a tag: bit i of the lower half for entry i, if it has that tag, and in the
/// upper half the bucket's second word. All bits set if it does not pass the check above or tells more than nine entries.
uint64_t shelfmark_search_bucket(const void *_Nonnull bucket, uint32_t unit, uint16_t tag);

/// The checksum from the table alone: for tests that hold the two against each other.
uint32_t shelfmark_crc32c_table(uint32_t crc, const void *_Nonnull bytes, size_t count);

/// Asks for the cache line at `address` ahead of its use. Any address may be named.
static inline void shelfmark_prefetch(const void *_Nullable address) {
  __builtin_prefetch(address, 0, 3);
}

/// Which of the nine 16-bit tags at `tags` equal `tag`: bit i for tag i.
/// Nine tags fill 18 bytes; two more bytes behind them may be read.
static inline uint32_t shelfmark_match_tags(const void *_Nonnull tags, uint16_t tag) {
  const uint8_t *bytes = (const uint8_t *)tags;
  uint16_t ninth;
  __builtin_memcpy(&ninth, bytes + 16, 2);
  uint32_t found = (uint32_t)(ninth == tag) << 8;
#if defined(__SSE2__)
  __m128i equal = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)tags), _mm_set1_epi16((short)tag));
  return found | (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128()));
#else
  for (int i = 0; i < 8; i++) {
    uint16_t each;
    __builtin_memcpy(&each, bytes + 2 * i, 2);
    found |= (uint32_t)(each == tag) << i;
  }
  return found;
#endif
}

/// Opens `name` in the directory `directory`. Never follows a link in the last component, closes on exec.
/// Returns a descriptor, or -1 with errno set.
int shelfmark_openat(int directory, const char *_Nonnull name, int flags, unsigned mode);

/// Opens the directory at `path`, which may lead through links; closes on exec. Returns as above.
int shelfmark_open_directory(const char *_Nonnull path);

/// Takes an exclusive lock on the whole file without waiting: -1 with errno EAGAIN when someone else has it.
/// It belongs to the open file, not to the process: an OFD lock on Linux, flock elsewhere.
int shelfmark_lock(int descriptor);

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

/// Opens a device or a FIFO without waiting for it, and without making a terminal the one that controls the process; closes on
/// exec. Returns a descriptor, or -1 with errno set.
int shelfmark_open_device(const char *_Nonnull path, int flags);

/// Lets nobody else get what an event device of Linux says, until it is closed, or lets others again. -1 with errno set on
/// failure.
int shelfmark_grab_keyboard(int descriptor, int grabs);

/// Lets nobody else open a terminal, or lets others again. -1 with errno set on failure.
int shelfmark_claim_terminal(int descriptor, int claims);

/// Takes the lock that programs for serial devices take, without waiting: -1 with errno EWOULDBLOCK when another open of the
/// device has it. Unlike a claim it also keeps out a process with privileges. It ends with the descriptor.
int shelfmark_lock_device(int descriptor);

#endif
