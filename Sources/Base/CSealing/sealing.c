#include "CSealing.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "gcm.h"

// The functions of libsodium, whose types and numbers are part of its binary interface.

enum { auth_state_size = 512, argon2id13 = 2 };

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

// MARK: AES-256-GCM

static void sodium_prepare(void *state, const uint8_t *key) { sodium.prepare_gcm(state, key); }

static void sodium_seal(
    const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *plain, size_t count,
    uint8_t *sealed) {
  count64 written;
  sodium.seal_gcm(sealed, &written, plain, count, data, data_count, NULL, nonce, state);
}

static bool sodium_open(
    const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *sealed, size_t count,
    uint8_t *plain) {
  count64 written;
  return sodium.open_gcm(plain, &written, NULL, sealed, count + gcm_tag_size, data, data_count, nonce, state) == 0;
}

static const gcm_library sodium_library = {sodium_prepare, sodium_seal, sodium_open};

/// Whether two libraries compute the same, for texts of some lengths.
static bool agree(const gcm_library *a, const gcm_library *b) {
  enum { longest = 600 };
  _Alignas(64) uint8_t first[gcm_state_size], second[gcm_state_size];
  uint8_t key[gcm_key_size], nonce[gcm_nonce_size], data[8], plain[longest];
  sodium.random(key, sizeof key);
  sodium.random(nonce, sizeof nonce);
  sodium.random(data, sizeof data);
  sodium.random(plain, sizeof plain);
  a->prepare(first, key);
  b->prepare(second, key);
  const size_t counts[] = {0, 1, 15, 16, 17, 190, 256, longest};
  for (size_t index = 0; index < sizeof counts / sizeof *counts; index++) {
    const size_t count = counts[index];
    uint8_t sealed[longest + gcm_tag_size], other[longest + gcm_tag_size], opened[longest];
    a->seal(first, nonce, data, sizeof data, plain, count, sealed);
    memcpy(other, plain, count);
    b->seal(second, nonce, data, sizeof data, other, count, other);
    if (sodium.compare(sealed, other, count + gcm_tag_size) != 0) return false;
    if (!b->open(second, nonce, data, sizeof data, sealed, count, opened)) return false;
    if (sodium.compare(opened, plain, count) != 0) return false;
    other[count] ^= 1;
    if (b->open(second, nonce, data, sizeof data, other, count, opened)) return false;
  }
  return true;
}

static const gcm_library *gcm_libraries[shelfmark_gcm_library_count];
static const gcm_library *best_gcm;
static pthread_once_t gcm_once = PTHREAD_ONCE_INIT, crypto_once = PTHREAD_ONCE_INIT;

static void load_gcm(void) {
  if (!sodium.has_gcm()) return;
  best_gcm = gcm_libraries[shelfmark_gcm_libsodium] = &sodium_library;
  const gcm_library *ipsec = gcm_ipsec_mb();
  if (ipsec && agree(&sodium_library, ipsec)) best_gcm = gcm_libraries[shelfmark_gcm_ipsec_mb] = ipsec;
}

static void load_crypto(void) { gcm_libraries[shelfmark_gcm_libcrypto] = gcm_libcrypto(); }

/// The library that computes AES-256-GCM, loaded when it is first needed; null if no library can here.
static const gcm_library *gcm_with(int library) {
  pthread_once(&gcm_once, load_gcm);
  if (library == shelfmark_gcm_best && best_gcm) return best_gcm;
  if (library == shelfmark_gcm_best) library = shelfmark_gcm_libcrypto;
  if (library == shelfmark_gcm_libcrypto) pthread_once(&crypto_once, load_crypto);
  return gcm_libraries[library];
}

bool shelfmark_has_aes(void) {
  pthread_once(&gcm_once, load_gcm);
  return best_gcm;
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

/// The first half of HKDF: HMAC under a key that is made of another one and a salt.
static void extract(const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, auth_state *keyed) {
  uint8_t extracted[digest_size];
  const uint8_t zeros[digest_size] = {0};
  sodium.begin_hmac(keyed, salt_count ? salt : zeros, salt_count ? salt_count : digest_size);
  sodium.update_hmac(keyed, key, key_count);
  sodium.end_hmac(keyed, extracted);
  sodium.begin_hmac(keyed, extracted, digest_size);
  sodium.wipe(extracted, sizeof extracted);
}

/// The second half: bytes for one use. `keyed` is what HMAC begins with under the extracted key, which costs as much as all
/// that follows.
static void expand(const auth_state *keyed, const uint8_t *info, size_t info_count, uint8_t *derived, size_t count) {
  auth_state state;
  uint8_t block[digest_size];
  size_t done = 0;
  for (uint8_t number = 1; done < count; number++) {
    state = *keyed;
    if (number > 1) sodium.update_hmac(&state, block, digest_size);
    if (info_count) sodium.update_hmac(&state, info, info_count);
    sodium.update_hmac(&state, &number, 1);
    sodium.end_hmac(&state, block);
    size_t taken = count - done < digest_size ? count - done : digest_size;
    memcpy(derived + done, block, taken);
    done += taken;
  }
  sodium.wipe(&state, sizeof state);
  sodium.wipe(block, sizeof block);
}

void shelfmark_hkdf_sha256(
    const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, const uint8_t *info, size_t info_count,
    uint8_t *derived, size_t count) {
  auth_state keyed;
  extract(key, key_count, salt, salt_count, &keyed);
  expand(&keyed, info, info_count, derived, count);
  sodium.wipe(&keyed, sizeof keyed);
}

bool shelfmark_argon2id(
    const uint8_t *passphrase, size_t passphrase_count, const uint8_t *salt, uint64_t passes, size_t memory,
    uint8_t *derived, size_t count) {
  return sodium.argon2id(derived, count, (const char *)passphrase, passphrase_count, salt, passes, memory, argon2id13) == 0;
}

// MARK: Authenticated encryption

struct shelfmark_aead {
  /// What the library made of a key of AES-GCM. The memory of a secret begins at a multiple of 64 if its size is one.
  _Alignas(64) unsigned char state[gcm_state_size];
  unsigned char key[shelfmark_aead_key_size];
  /// What computes AES-GCM; null for ChaCha20 and Poly1305.
  const gcm_library *gcm;
  unsigned char rest[64 - shelfmark_aead_key_size - sizeof(void *)];
};

/// Prepares a key in place. Returns whether the algorithm is known and possible here.
static bool prepare(shelfmark_aead *aead, int algorithm, int library, const uint8_t *key) {
  aead->gcm = algorithm == shelfmark_aes_256_gcm ? gcm_with(library) : NULL;
  if (!aead->gcm && algorithm != shelfmark_chacha20_poly1305) return false;
  memcpy(aead->key, key, sizeof aead->key);
  if (aead->gcm) aead->gcm->prepare(aead->state, key);
  return true;
}

shelfmark_aead *shelfmark_aead_new(int algorithm, int library, const uint8_t *key) {
  shelfmark_aead *aead = sodium.allocate(sizeof *aead);
  if (aead && !prepare(aead, algorithm, library, key)) {
    sodium.free(aead);
    return NULL;
  }
  return aead;
}

void shelfmark_aead_free(shelfmark_aead *aead) { sodium.free(aead); }

void shelfmark_aead_seal(
    const shelfmark_aead *aead, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *plain,
    size_t count, uint8_t *sealed) {
  if (aead->gcm) return aead->gcm->seal(aead->state, nonce, data, data_count, plain, count, sealed);
  count64 written;
  sodium.seal_chacha(sealed, &written, plain, count, data, data_count, NULL, nonce, aead->key);
}

bool shelfmark_aead_open(
    const shelfmark_aead *aead, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *sealed,
    size_t count, uint8_t *plain) {
  if (aead->gcm) {
    return aead->gcm->open(aead->state, nonce, data, data_count, sealed, count - shelfmark_aead_tag_size, plain);
  }
  count64 written;
  return sodium.open_chacha(plain, &written, NULL, sealed, count, data, data_count, nonce, aead->key) == 0;
}

// MARK: The keys of a log

struct shelfmark_log_keys {
  shelfmark_aead base, other;
  uint8_t hash[shelfmark_hash_key_size];
};

shelfmark_log_keys *shelfmark_log_keys_new(int algorithm, const uint8_t *data_key, const uint8_t *salt, size_t salt_count) {
  shelfmark_log_keys *keys = shelfmark_cell_take(sizeof *keys);
  if (!keys) return NULL;
  auth_state keyed;
  uint8_t key[shelfmark_aead_key_size];
  extract(data_key, shelfmark_aead_key_size, salt, salt_count, &keyed);
  static const char base[] = "shelfmark base", other[] = "shelfmark nonce", hash[] = "shelfmark hash";
  expand(&keyed, (const uint8_t *)base, sizeof base - 1, key, sizeof key);
  bool is_known = prepare(&keys->base, algorithm, shelfmark_gcm_best, key);
  expand(&keyed, (const uint8_t *)other, sizeof other - 1, key, sizeof key);
  is_known = prepare(&keys->other, algorithm, shelfmark_gcm_best, key) && is_known;
  expand(&keyed, (const uint8_t *)hash, sizeof hash - 1, keys->hash, sizeof keys->hash);
  sodium.wipe(&keyed, sizeof keyed);
  sodium.wipe(key, sizeof key);
  if (is_known) return keys;
  shelfmark_log_keys_free(keys);
  return NULL;
}

void shelfmark_log_keys_free(shelfmark_log_keys *keys) {
  sodium.wipe(keys, sizeof *keys);
  shelfmark_cell_return(keys);
}

const shelfmark_aead *shelfmark_log_keys_base(const shelfmark_log_keys *keys) { return &keys->base; }
const shelfmark_aead *shelfmark_log_keys_other(const shelfmark_log_keys *keys) { return &keys->other; }
const uint8_t *shelfmark_log_keys_hash(const shelfmark_log_keys *keys) { return keys->hash; }

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

bool shelfmark_page_open(
    const shelfmark_aead *aead, uint32_t unit, uint32_t word, size_t count, const uint8_t *page, uint8_t *opened) {
  uint8_t data[8];
  put_u32(data, unit);
  put_u32(data + 4, word);
  return shelfmark_aead_open(
      aead, page, data, sizeof data, page + shelfmark_aead_nonce_size, count - shelfmark_aead_nonce_size, opened);
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
