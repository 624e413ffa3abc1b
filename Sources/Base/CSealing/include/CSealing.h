// What sealed stores need of libsodium, the system's library, and memory for what they open. AES-256-GCM is computed by
// Intel's libIPSec_MB instead, several times as fast, where the system has it; and by libcrypto where the processor
// lacks what libsodium needs. All of them compute the same.
//
// The library is loaded when the first key is made: programs without sealed stores neither need it nor spend time on
// loading it. Call `shelfmark_sealing_load` before anything else here but the functions of scratch memory and arenas.

#ifndef SHELFMARK_CSEALING_H
#define SHELFMARK_CSEALING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads the library, once in the life of the process.
///
/// Returns null, or the reason why it cannot be used, as a constant text.
const char *_Nullable shelfmark_sealing_load(void);

// MARK: Secrets

/// Memory for a secret, between guard pages, locked where the system allows it, and left out of core dumps. Null if there
/// is no memory.
void *_Nullable shelfmark_secret_allocate(size_t count);
/// Wipes the memory and frees it.
void shelfmark_secret_free(void *_Nonnull secret);
/// Writes random bytes for keys.
void shelfmark_secret_random(uint8_t *_Nonnull bytes, size_t count);
/// Compares in a time that does not depend on the contents.
bool shelfmark_secret_is_equal(const uint8_t *_Nonnull a, const uint8_t *_Nonnull b, size_t count);
/// Overwrites bytes with zeros, which no compiler leaves out.
void shelfmark_wipe(void *_Nonnull bytes, size_t count);

/// HKDF-SHA256 (RFC 5869), for up to 8160 bytes.
void shelfmark_hkdf_sha256(
    const uint8_t *_Nonnull key, size_t key_count, const uint8_t *_Nullable salt, size_t salt_count,
    const uint8_t *_Nullable info, size_t info_count, uint8_t *_Nonnull derived, size_t count);

enum { shelfmark_argon2id_salt_size = 16 };

/// Argon2id (RFC 9106), version 1.3, with one lane. Returns false if there is no memory.
bool shelfmark_argon2id(
    const uint8_t *_Nonnull passphrase, size_t passphrase_count, const uint8_t *_Nonnull salt, uint64_t passes,
    size_t memory, uint8_t *_Nonnull derived, size_t count);

// MARK: Authenticated encryption

enum {
  shelfmark_aead_key_size = 32,
  shelfmark_aead_nonce_size = 12,
  shelfmark_aead_tag_size = 16,
};

/// The algorithms, as the header of a log names them.
enum {
  shelfmark_aes_256_gcm = 1,
  shelfmark_chacha20_poly1305 = 2,
};

/// A key that is prepared for use, in the memory of a secret. Any number of threads may use it.
typedef struct shelfmark_aead shelfmark_aead;

/// What computes AES-256-GCM. The best one is the first of the others that works here.
enum {
  shelfmark_gcm_best,
  shelfmark_gcm_ipsec_mb,
  shelfmark_gcm_libsodium,
  shelfmark_gcm_libcrypto,
  shelfmark_gcm_library_count,
};

/// Whether the processor has instructions for AES-256-GCM that a library here uses.
bool shelfmark_has_aes(void);
/// Prepares a key; null if there is no memory, if the algorithm is not known, or if the library is not there or cannot
/// work on this processor. ChaCha20 and Poly1305 are always computed by libsodium.
shelfmark_aead *_Nullable shelfmark_aead_new(int algorithm, int library, const uint8_t *_Nonnull key);
void shelfmark_aead_free(shelfmark_aead *_Nonnull aead);
/// Writes the sealed bytes and the tag after them. They may take the place of the plain ones.
void shelfmark_aead_seal(
    const shelfmark_aead *_Nonnull aead, const uint8_t *_Nonnull nonce, const uint8_t *_Nullable data, size_t data_count,
    const uint8_t *_Nullable plain, size_t count, uint8_t *_Nonnull sealed);
/// Writes the plain bytes of `count` sealed ones, which end with the tag. Returns whether they are genuine.
bool shelfmark_aead_open(
    const shelfmark_aead *_Nonnull aead, const uint8_t *_Nonnull nonce, const uint8_t *_Nullable data, size_t data_count,
    const uint8_t *_Nonnull sealed, size_t count, uint8_t *_Nonnull plain);

// MARK: The keys of a log

enum { shelfmark_hash_key_size = 16 };

/// The keys of one log, in locked memory that is left out of core dumps. Any number of threads may use them.
typedef struct shelfmark_log_keys shelfmark_log_keys;

/// Derives the keys of a log from a data key of 32 bytes (FORMAT.md, *Sealed logs*); null if there is no memory, or if the
/// algorithm is not known or not possible here.
shelfmark_log_keys *_Nullable shelfmark_log_keys_new(
    int algorithm, const uint8_t *_Nonnull data_key, const uint8_t *_Nonnull salt, size_t salt_count);
/// Wipes the keys and frees their memory.
void shelfmark_log_keys_free(shelfmark_log_keys *_Nonnull keys);
/// The key of objects of the base.
const shelfmark_aead *_Nonnull shelfmark_log_keys_base(const shelfmark_log_keys *_Nonnull keys);
/// The key of everything that stores its nonce.
const shelfmark_aead *_Nonnull shelfmark_log_keys_other(const shelfmark_log_keys *_Nonnull keys);
/// The 16 bytes of the key of the hash of keys.
const uint8_t *_Nonnull shelfmark_log_keys_hash(const shelfmark_log_keys *_Nonnull keys);

// MARK: Objects

/// Opens an object of a sealed log (FORMAT.md, *Sealed objects*): its contents go behind the first eight bytes of `opened`,
/// which get the unit offset and the header word of the plain object. `word` is the header word of the sealed one; `contents`
/// is what follows it, with the nonce first where `has_nonce` says so. Returns whether the object is genuine.
bool shelfmark_object_open(
    const shelfmark_aead *_Nonnull aead, uint32_t unit, uint32_t word, bool has_nonce, const uint8_t *_Nonnull contents,
    uint8_t *_Nonnull opened);

/// Opens a page of an ordered index: `count` bytes that begin with the nonce. `word` stands for its kind and length. Returns
/// whether it is genuine.
bool shelfmark_page_open(
    const shelfmark_aead *_Nonnull aead, uint32_t unit, uint32_t word, size_t count, const uint8_t *_Nonnull page,
    uint8_t *_Nonnull opened);

/// A nonce that is stored: a number of 96 bits.
typedef struct {
  uint64_t high;
  uint32_t low;
  /// Whether there is one; without it, the object has the nonce of its offset.
  bool is_stored;
} shelfmark_nonce;

/// Seals `count` bytes of contents. `contents` is where the sealed contents begin: the plain ones are there already, behind
/// the room for the nonce if one is stored, and the tag follows them.
void shelfmark_object_seal(
    const shelfmark_aead *_Nonnull aead, uint32_t unit, uint32_t word, shelfmark_nonce nonce, size_t count,
    uint8_t *_Nonnull contents);

enum { shelfmark_stream_nonce_size = 24, shelfmark_stream_block_size = 64 };

/// Encrypts or decrypts bytes with XChaCha20, from the block `block` of the stream on.
void shelfmark_stream_xor(
    const uint8_t *_Nonnull key, const uint8_t *_Nonnull nonce, uint64_t block, const uint8_t *_Nonnull bytes, size_t count,
    uint8_t *_Nonnull result);

// MARK: Memory for what was opened

/// Opened texts that many rows name, found by their unit offset. Any number of threads may use it.
typedef struct shelfmark_texts shelfmark_texts;

shelfmark_texts *_Nullable shelfmark_texts_new(void);
void shelfmark_texts_free(shelfmark_texts *_Nonnull texts);
/// The opened object at a unit offset; null if it is not kept.
const uint8_t *_Nullable shelfmark_texts_find(const shelfmark_texts *_Nonnull texts, uint32_t unit);
/// Keeps a copy of an opened object, whose first four bytes are its unit offset, until the texts are freed. Returns the copy;
/// null if there is no room for it.
const uint8_t *_Nullable shelfmark_texts_insert(
    shelfmark_texts *_Nonnull texts, const uint8_t *_Nonnull opened, size_t count);

/// Locked memory of one of the few sizes that are asked for, aligned to 64 and left out of core dumps; null if there is
/// none. It comes in pieces for many cells, since the system's calls cost more than what fills a cell. The pieces stay
/// with the process: as many as were needed at the same time.
void *_Nullable shelfmark_cell_take(size_t count);
/// Gives a cell back, whose contents the caller has wiped.
void shelfmark_cell_return(void *_Nonnull cell);

/// Memory that is taken from piece by piece and freed as a whole. It is locked where the system allows it, and left out of
/// core dumps. One thread uses it at a time.
typedef struct shelfmark_arena shelfmark_arena;

shelfmark_arena *_Nullable shelfmark_arena_new(void);
void shelfmark_arena_free(shelfmark_arena *_Nonnull arena);
/// Memory for `count` bytes, aligned to 16; null if there is none.
void *_Nullable shelfmark_arena_take(shelfmark_arena *_Nonnull arena, size_t count);

/// The scratch memory of a thread: a stack of pieces. What is taken is valid until the scope ends in which it was taken.
typedef struct {
  uint8_t *_Nullable next;
  uint8_t *_Nullable end;
  struct shelfmark_chunk *_Nullable chunk;
  size_t depth;
} shelfmark_scratch_state;

extern _Thread_local shelfmark_scratch_state shelfmark_scratch;

/// Begins a scope, which `shelfmark_scratch_leave` ends.
static inline shelfmark_scratch_state shelfmark_scratch_enter(void) {
  shelfmark_scratch_state mark = shelfmark_scratch;
  shelfmark_scratch.depth++;
  return mark;
}

void shelfmark_scratch_release_chunks(shelfmark_scratch_state mark);

/// Ends the scope that began with `mark`, and frees what was taken in it.
static inline void shelfmark_scratch_leave(shelfmark_scratch_state mark) {
  if (__builtin_expect(shelfmark_scratch.chunk != mark.chunk, 0)) {
    shelfmark_scratch_release_chunks(mark);
  } else {
    shelfmark_scratch.next = mark.next;
    shelfmark_scratch.depth = mark.depth;
  }
}

/// Whether the thread is in a scope.
static inline bool shelfmark_scratch_is_open(void) { return shelfmark_scratch.depth > 0; }

void *_Nullable shelfmark_scratch_take_chunk(size_t count);

/// Memory for `count` bytes, aligned to 16, until the scope ends; null if there is none.
static inline void *_Nullable shelfmark_scratch_take(size_t count) {
  size_t rounded = (count + 15) & ~(size_t)15;
  if (__builtin_expect((size_t)(shelfmark_scratch.end - shelfmark_scratch.next) < rounded, 0)) {
    return shelfmark_scratch_take_chunk(rounded);
  }
  void *taken = shelfmark_scratch.next;
  shelfmark_scratch.next += rounded;
  return taken;
}

#endif
