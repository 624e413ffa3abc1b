// One C interface for the stores that `compare-ordered` measures. Each has rows by number, and an index in the order of
// keys of KEY_BYTES bytes that leads to the rows.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The key of a row is the beginning of its body.
enum { ORDERED_KEY_BYTES = 16 };

/// A store. Functions that return `int` return 0, or -1 with a text in ``ordered_message``.
typedef struct {
  const char *name;
  /// What was chosen, in a sentence.
  const char *configuration;
  /// Opens the store in a directory, which is empty when the store is filled. Filling need not be durable.
  void *(*open)(const char *directory, int is_filling);
  void (*close)(void *store);
  int (*begin)(void *store);
  /// Puts a row. `old_body` is the row of this number that is replaced, or null.
  int (*put)(void *store, uint64_t number, const uint8_t *body, size_t byte_count, const uint8_t *old_body);
  /// Returns when everything since `begin` is durable.
  int (*commit)(void *store);
  /// Ends filling: what a store does to be read fast.
  int (*finish)(void *store);
  /// Reads up to `limit` rows in the order of their keys, from the first key on that is not less than `key`. Adds one
  /// byte of each row, and their number, to the sums.
  int (*walk)(void *store, const uint8_t *key, size_t limit, uint64_t *sum, uint64_t *row_count);
} ordered_peer;

/// The stores of this build, ended by null.
const ordered_peer *const *ordered_peer_list(void);

/// Why the last call on this thread failed.
const char *ordered_message(void);

/// For the stores: keeps a message, and returns -1.
int ordered_failed(const char *call, const char *why);

#ifdef __cplusplus
}
#endif
