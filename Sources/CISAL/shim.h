// ISA-L's state has arrays that are too long for a Swift type; Swift sees a pointer and these few functions.
#ifndef SHELFMARK_CISAL_SHIM_H
#define SHELFMARK_CISAL_SHIM_H

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

typedef struct inflate_state shelfmark_isal;

/// A state that is ready for raw deflate (RFC 1951), or null where there is no memory for one.
static inline shelfmark_isal *shelfmark_isal_make(void) {
  shelfmark_isal *state = (shelfmark_isal *)malloc(sizeof(shelfmark_isal));
  if (state) isal_inflate_init(state);
  return state;
}

static inline void shelfmark_isal_free(shelfmark_isal *state) { free(state); }

/// Whether the last block has ended and everything is out.
static inline int shelfmark_isal_is_done(const shelfmark_isal *state) {
  return state->block_state == ISAL_BLOCK_FINISH;
}

/// Whole bytes that were taken and not used yet: at the end of the data, those behind it. At most eight.
static inline int shelfmark_isal_kept_count(const shelfmark_isal *state) {
  return state->read_in_length > 0 ? state->read_in_length / 8 : 0;
}

/// Those bytes, the first one lowest.
static inline uint64_t shelfmark_isal_kept(const shelfmark_isal *state) {
  return state->read_in >> (state->read_in_length % 8);
}

#endif
