// Keys of a store that has one key space: a letter goes before them.
#pragma once

#include "kv_peer.h"

typedef struct {
  size_t count;
  char bytes[LONGEST_KEY + 1];
} prefixed_key;

static inline void prefix(prefixed_key *prefixed, key_space space, slice key) {
  prefixed->bytes[0] = "binr"[space];
  // Keys are checked when they are put; one that is too long to be there is not found by its beginning either.
  size_t count = key.count <= LONGEST_KEY ? key.count : LONGEST_KEY;
  memcpy(prefixed->bytes + 1, key.bytes, count);
  prefixed->count = count + 1;
}
