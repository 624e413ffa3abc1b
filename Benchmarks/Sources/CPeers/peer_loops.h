// The timed loops, once for every store: a file that includes this has defined
//
//     static inline int lookup_barcode(session *, slice key, uint64_t *answer)
//     static inline int lookup_id(session *, slice key, uint64_t *answer)
//     static inline int lookup_relations(session *, slice key, uint64_t *answer)
//
// each of which returns 1 for a key that is there, 0 for one that is not, and -1 for a failure. They are inlined here.
#pragma once

#include "record.h"

static inline slice key_at(const peer_keys *keys, size_t index) {
  return (slice){keys->bytes + index * keys->stride, keys->byte_counts[index]};
}

typedef int lookup_function(session *, slice, uint64_t *);

static inline __attribute__((always_inline)) int independent(
    lookup_function *lookup, session *s, const peer_keys *keys, size_t start, size_t count, uint64_t *sum) {
  uint64_t total = 0;
  for (size_t index = start; index < start + count; index++) {
    uint64_t answer = 0;
    if (lookup(s, key_at(keys, index), &answer) < 0) return -1;
    total += answer;
  }
  *sum = total;
  return 0;
}

static inline __attribute__((always_inline)) int dependent(
    lookup_function *lookup, session *s, const peer_keys *keys, size_t start, size_t count, uint64_t *sum) {
  uint64_t total = 0;
  size_t index = start;
  for (size_t turn = 0; turn < count; turn++) {
    uint64_t answer = 0;
    if (lookup(s, key_at(keys, index), &answer) < 0) return -1;
    total += answer;
    // The highest bit of an answer is never set, which only the data knows.
    index += 1 + (size_t)(answer >> 63);
  }
  *sum = total;
  return 0;
}

static int run_lookups(
    void *s, peer_operation operation, const peer_keys *keys, size_t start, size_t count, uint64_t *sum) {
  switch (operation) {
  case PEER_HITS: return independent(lookup_barcode, s, keys, start, count, sum);
  case PEER_DEPENDENT: return dependent(lookup_barcode, s, keys, start, count, sum);
  case PEER_BY_ID: return independent(lookup_id, s, keys, start, count, sum);
  case PEER_RELATIONS: return independent(lookup_relations, s, keys, start, count, sum);
#ifdef HAS_BATCH
  case PEER_BATCH: return lookup_batch(s, keys, start, count, sum);
#endif
  default: return peer_fail("lookups", "not an operation of this store");
  }
}

static int has_operation(peer_operation operation) {
#ifdef HAS_BATCH
  if (operation == PEER_BATCH) return 1;
#endif
  return operation <= PEER_RELATIONS;
}
