#include "CSealing.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// The functions of libsodium, whose types and numbers are part of its binary interface.

enum { gcm_state_size = 512, auth_state_size = 512, argon2id13 = 2 };

typedef unsigned long long count64;

static struct {
  int (*start)(void);
  void *(*allocate)(size_t);
  void (*free)(void *);
  void (*wipe)(void *, size_t);
  int (*compare)(const void *, const void *, size_t);
  void (*random)(void *, size_t);
  int (*has_gcm)(void);
  int (*prepare_gcm)(void *, const unsigned char *);
  int (*seal_gcm)(
      unsigned char *, count64 *, const unsigned char *, count64, const unsigned char *, count64, const unsigned char *,
      const unsigned char *, const void *);
  int (*open_gcm)(
      unsigned char *, count64 *, unsigned char *, const unsigned char *, count64, const unsigned char *, count64,
      const unsigned char *, const void *);
  int (*seal_chacha)(
      unsigned char *, count64 *, const unsigned char *, count64, const unsigned char *, count64, const unsigned char *,
      const unsigned char *, const unsigned char *);
  int (*open_chacha)(
      unsigned char *, count64 *, unsigned char *, const unsigned char *, count64, const unsigned char *, count64,
      const unsigned char *, const unsigned char *);
  int (*begin_hmac)(void *, const unsigned char *, size_t);
  int (*update_hmac)(void *, const unsigned char *, count64);
  int (*end_hmac)(void *, unsigned char *);
  size_t (*hmac_state_size)(void);
  size_t (*gcm_state_size)(void);
  int (*argon2id)(
      unsigned char *, count64, const char *, count64, const unsigned char *, count64, size_t, int);
  int (*stream)(
      unsigned char *, const unsigned char *, count64, const unsigned char *, uint64_t, const unsigned char *);
} sodium;

static const char *problem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

typedef struct {
  const char *name;
  void *target;
} function;

static void load(void) {
#ifdef __APPLE__
  const char *names[] = {"libsodium.dylib", "/opt/homebrew/lib/libsodium.dylib", "/usr/local/lib/libsodium.dylib"};
#else
  const char *names[] = {"libsodium.so.23", "libsodium.so.26"};
#endif
  void *library = NULL;
  for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) {
    problem = "sealed stores need libsodium, which is not on this system; install it (on Debian: apt install libsodium23)";
    return;
  }
  const function functions[] = {
      {"sodium_init", &sodium.start},
      {"sodium_malloc", &sodium.allocate},
      {"sodium_free", &sodium.free},
      {"sodium_memzero", &sodium.wipe},
      {"sodium_memcmp", &sodium.compare},
      {"randombytes_buf", &sodium.random},
      {"crypto_aead_aes256gcm_is_available", &sodium.has_gcm},
      {"crypto_aead_aes256gcm_beforenm", &sodium.prepare_gcm},
      {"crypto_aead_aes256gcm_encrypt_afternm", &sodium.seal_gcm},
      {"crypto_aead_aes256gcm_decrypt_afternm", &sodium.open_gcm},
      {"crypto_aead_chacha20poly1305_ietf_encrypt", &sodium.seal_chacha},
      {"crypto_aead_chacha20poly1305_ietf_decrypt", &sodium.open_chacha},
      {"crypto_auth_hmacsha256_init", &sodium.begin_hmac},
      {"crypto_auth_hmacsha256_update", &sodium.update_hmac},
      {"crypto_auth_hmacsha256_final", &sodium.end_hmac},
      {"crypto_auth_hmacsha256_statebytes", &sodium.hmac_state_size},
      {"crypto_aead_aes256gcm_statebytes", &sodium.gcm_state_size},
      {"crypto_pwhash_argon2id", &sodium.argon2id},
      {"crypto_stream_xchacha20_xor_ic", &sodium.stream},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    void *found = dlsym(library, functions[index].name);
    if (!found) {
      problem = "the system's libsodium lacks functions of version 1.0.18; install that version or a later one";
      return;
    }
    memcpy(functions[index].target, &found, sizeof found);
  }
  if (sodium.start() < 0) {
    problem = "libsodium cannot be started: it gets no random numbers from the system";
  } else if (sodium.gcm_state_size() > gcm_state_size || sodium.hmac_state_size() > auth_state_size) {
    problem = "the system's libsodium is another one than this program knows";
  }
}

const char *shelfmark_sealing_load(void) {
  pthread_once(&once, load);
  return problem;
}

// MARK: Secrets

void *shelfmark_secret_allocate(size_t count) { return sodium.allocate(count); }
void shelfmark_secret_free(void *secret) { sodium.free(secret); }
void shelfmark_secret_random(uint8_t *bytes, size_t count) { sodium.random(bytes, count); }
bool shelfmark_secret_is_equal(const uint8_t *a, const uint8_t *b, size_t count) { return sodium.compare(a, b, count) == 0; }
void shelfmark_wipe(void *bytes, size_t count) { sodium.wipe(bytes, count); }

enum { digest_size = 32 };

typedef struct {
  _Alignas(64) unsigned char bytes[auth_state_size];
} auth_state;

void shelfmark_hkdf_sha256(
    const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, const uint8_t *info, size_t info_count,
    uint8_t *derived, size_t count) {
  auth_state state;
  uint8_t extracted[digest_size], block[digest_size];
  const uint8_t zeros[digest_size] = {0};
  sodium.begin_hmac(&state, salt_count ? salt : zeros, salt_count ? salt_count : digest_size);
  sodium.update_hmac(&state, key, key_count);
  sodium.end_hmac(&state, extracted);
  size_t done = 0;
  for (uint8_t number = 1; done < count; number++) {
    sodium.begin_hmac(&state, extracted, digest_size);
    if (number > 1) sodium.update_hmac(&state, block, digest_size);
    if (info_count) sodium.update_hmac(&state, info, info_count);
    sodium.update_hmac(&state, &number, 1);
    sodium.end_hmac(&state, block);
    size_t taken = count - done < digest_size ? count - done : digest_size;
    memcpy(derived + done, block, taken);
    done += taken;
  }
  sodium.wipe(&state, sizeof state);
  sodium.wipe(extracted, sizeof extracted);
  sodium.wipe(block, sizeof block);
}

bool shelfmark_argon2id(
    const uint8_t *passphrase, size_t passphrase_count, const uint8_t *salt, uint64_t passes, size_t memory,
    uint8_t *derived, size_t count) {
  return sodium.argon2id(derived, count, (const char *)passphrase, passphrase_count, salt, passes, memory, argon2id13) == 0;
}

// MARK: Authenticated encryption

struct shelfmark_aead {
  /// Of AES-GCM, the round keys and what is computed ahead. The library aligns the end of an allocation to a page, so the
  /// size is a multiple of what the state must be aligned to.
  _Alignas(64) unsigned char state[gcm_state_size];
  unsigned char key[shelfmark_aead_key_size];
  int algorithm;
  unsigned char rest[64 - shelfmark_aead_key_size - sizeof(int)];
};

bool shelfmark_has_aes(void) { return sodium.has_gcm() != 0; }

shelfmark_aead *shelfmark_aead_new(int algorithm, const uint8_t *key) {
  if (algorithm != shelfmark_chacha20_poly1305 && !(algorithm == shelfmark_aes_256_gcm && shelfmark_has_aes())) return NULL;
  shelfmark_aead *aead = sodium.allocate(sizeof *aead);
  if (!aead) return NULL;
  aead->algorithm = algorithm;
  memcpy(aead->key, key, sizeof aead->key);
  if (algorithm == shelfmark_aes_256_gcm) sodium.prepare_gcm(aead->state, key);
  return aead;
}

void shelfmark_aead_free(shelfmark_aead *aead) { sodium.free(aead); }

void shelfmark_aead_seal(
    const shelfmark_aead *aead, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *plain,
    size_t count, uint8_t *sealed) {
  count64 written;
  if (aead->algorithm == shelfmark_aes_256_gcm) {
    sodium.seal_gcm(sealed, &written, plain, count, data, data_count, NULL, nonce, aead->state);
  } else {
    sodium.seal_chacha(sealed, &written, plain, count, data, data_count, NULL, nonce, aead->key);
  }
}

bool shelfmark_aead_open(
    const shelfmark_aead *aead, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *sealed,
    size_t count, uint8_t *plain) {
  count64 written;
  if (aead->algorithm == shelfmark_aes_256_gcm) {
    return sodium.open_gcm(plain, &written, NULL, sealed, count, data, data_count, nonce, aead->state) == 0;
  }
  return sodium.open_chacha(plain, &written, NULL, sealed, count, data, data_count, nonce, aead->key) == 0;
}

static void put_u32(uint8_t *bytes, uint32_t number) {
  for (int index = 0; index < 4; index++) bytes[index] = (uint8_t)(number >> (8 * index));
}

/// The nonce of an object of the base, whose key is used for one file: its unit offset, and zeros.
static void put_base_nonce(uint8_t *nonce, uint32_t unit) {
  memset(nonce, 0, shelfmark_aead_nonce_size);
  put_u32(nonce, unit);
}

bool shelfmark_object_open(
    const shelfmark_aead *aead, uint32_t unit, uint32_t word, bool has_nonce, const uint8_t *contents, uint8_t *opened) {
  uint8_t nonce[shelfmark_aead_nonce_size], data[8];
  const size_t overhead = shelfmark_aead_tag_size + (has_nonce ? shelfmark_aead_nonce_size : 0);
  const size_t stored = (word & 0xFFFFFF) - 8;
  put_u32(data, unit);
  put_u32(data + 4, word);
  if (has_nonce) {
    memcpy(nonce, contents, sizeof nonce);
    contents += sizeof nonce;
  } else {
    put_base_nonce(nonce, unit);
  }
  put_u32(opened, unit);
  put_u32(opened + 4, word - (uint32_t)overhead);
  return shelfmark_aead_open(
      aead, nonce, data, sizeof data, contents, stored - overhead + shelfmark_aead_tag_size, opened + 8);
}

void shelfmark_object_seal(
    const shelfmark_aead *aead, uint32_t unit, uint32_t word, shelfmark_nonce nonce, size_t count, uint8_t *contents) {
  uint8_t own[shelfmark_aead_nonce_size], data[8];
  put_u32(data, unit);
  put_u32(data + 4, word);
  if (nonce.is_stored) {
    put_u32(own, nonce.low);
    put_u32(own + 4, (uint32_t)nonce.high);
    put_u32(own + 8, (uint32_t)(nonce.high >> 32));
    memcpy(contents, own, sizeof own);
    contents += sizeof own;
  } else {
    put_base_nonce(own, unit);
  }
  shelfmark_aead_seal(aead, own, data, sizeof data, contents, count, contents);
}

void shelfmark_stream_xor(
    const uint8_t *key, const uint8_t *nonce, uint64_t block, const uint8_t *bytes, size_t count, uint8_t *result) {
  sodium.stream(result, bytes, count, nonce, block, key);
}
