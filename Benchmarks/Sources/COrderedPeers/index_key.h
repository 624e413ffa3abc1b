// The keys of a store of bytes: a row's number as eight bytes, the greatest first, and in the index the row's key before
// that number.
#pragma once

#include <stdint.h>
#include <string.h>

#include "ordered_peers.h"

enum { INDEX_KEY_BYTES = ORDERED_KEY_BYTES + 8 };

static inline void put_number(uint8_t *bytes, uint64_t number) {
  for (int index = 0; index < 8; index++) bytes[index] = (uint8_t)(number >> (56 - 8 * index));
}

static inline void put_index_key(uint8_t *bytes, const uint8_t *body, uint64_t number) {
  memcpy(bytes, body, ORDERED_KEY_BYTES);
  put_number(bytes + ORDERED_KEY_BYTES, number);
}
