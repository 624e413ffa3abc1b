// AES-256-GCM by one of several libraries, which compute the same.

#ifndef SHELFMARK_GCM_H
#define SHELFMARK_GCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Room for a prepared key of any library, aligned to 64 bytes.
enum { gcm_state_size = 1216, gcm_key_size = 32, gcm_nonce_size = 12, gcm_tag_size = 16 };

typedef struct {
  /// Prepares a key.
  void (*prepare)(void *state, const uint8_t *key);
  /// Writes the sealed bytes and the tag after them.
  void (*seal)(
      const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *plain, size_t count,
      uint8_t *sealed);
  /// Writes the plain form of `count` bytes, which the tag follows. Returns whether they are genuine; the plain bytes are
  /// undefined otherwise.
  bool (*open)(
      const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *sealed, size_t count,
      uint8_t *plain);
} gcm_library;

/// Intel's libIPSec_MB, if the system has it and the processor what it needs; else null.
const gcm_library *gcm_ipsec_mb(void);
/// OpenSSL's libcrypto, which works on any processor and is slow here; null if the system does not have it.
const gcm_library *gcm_libcrypto(void);

#endif
