// libcrypto, the system's library of OpenSSL, loaded when something is first hashed or signed: programs that never do
// neither need it nor spend time on loading it.
//
// Call `shelfmark_crypto_load` before any function of hashes, and `shelfmark_crypto_load_signatures` before any other.
// No hash is used by two threads at a time.

#ifndef SHELFMARK_CLIBCRYPTO_H
#define SHELFMARK_CLIBCRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A SHA-256 of the bytes so far, or their HMAC-SHA256 if it was made with a key.
typedef struct shelfmark_crypto_hash shelfmark_crypto_hash;

enum { shelfmark_crypto_digest_size = 32 };

/// Loads the library, once in the life of the process.
///
/// Returns null, or the reason why it cannot be used, as a constant text.
const char *_Nullable shelfmark_crypto_load(void);

/// A hash of no bytes; null if there is no memory.
shelfmark_crypto_hash *_Nullable shelfmark_crypto_sha256(void);
/// A keyed hash of no bytes; null if there is no memory. The key is copied.
shelfmark_crypto_hash *_Nullable shelfmark_crypto_hmac_sha256(const uint8_t *_Nullable key, size_t count);
void shelfmark_crypto_free(shelfmark_crypto_hash *_Nonnull hash);
/// Adds bytes; returns whether that succeeded.
bool shelfmark_crypto_update(shelfmark_crypto_hash *_Nonnull hash, const uint8_t *_Nullable bytes, size_t count);
/// Writes the hash of the bytes so far, to which more can be added; returns whether that succeeded.
bool shelfmark_crypto_digest(const shelfmark_crypto_hash *_Nonnull hash, uint8_t *_Nonnull digest);

// MARK: Signatures

enum {
  shelfmark_crypto_sha512_size = 64,
  shelfmark_crypto_ed25519_seed_size = 32,
  shelfmark_crypto_ed25519_key_size = 32,
  shelfmark_crypto_ed25519_signature_size = 64,
};

/// Loads the library and what signatures, SHA-512 and random bytes need of it, once in the life of the process.
///
/// Returns null, or the reason why it cannot be used, as a constant text. Hashes may work all the same.
const char *_Nullable shelfmark_crypto_load_signatures(void);

/// Writes the SHA-512 of the bytes; returns whether that succeeded.
bool shelfmark_crypto_sha512(const uint8_t *_Nullable bytes, size_t count, uint8_t *_Nonnull digest);
/// Writes random bytes for keys; returns whether that succeeded.
bool shelfmark_crypto_random(uint8_t *_Nonnull bytes, size_t count);
/// Writes the public key that belongs to a seed; returns whether that succeeded.
bool shelfmark_crypto_ed25519_public_key(const uint8_t *_Nonnull seed, uint8_t *_Nonnull key);
/// Writes the signature of the bytes; returns whether that succeeded.
bool shelfmark_crypto_ed25519_sign(
    const uint8_t *_Nonnull seed, const uint8_t *_Nullable bytes, size_t count, uint8_t *_Nonnull signature);
/// Returns 1 if the signature is that of the bytes by the public key, 0 if it is not, and -1 if there is no memory.
int shelfmark_crypto_ed25519_verify(
    const uint8_t *_Nonnull key, const uint8_t *_Nonnull signature, const uint8_t *_Nullable bytes, size_t count);

#endif
