#include "gcm.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  void *target;
} function;

static bool find_all(void *library, const function *functions, size_t count) {
  for (size_t index = 0; index < count; index++) {
    void *found = dlsym(library, functions[index].name);
    if (!found) return false;
    memcpy(functions[index].target, &found, sizeof found);
  }
  return true;
}

/// Overwrites bytes that the compiler knows nobody reads.
static void forget(void *bytes, size_t count) {
  memset(bytes, 0, count);
  __asm__ volatile("" : : "r"(bytes) : "memory");
}

/// Compares in a time that does not depend on the contents.
static bool is_same_tag(const uint8_t *a, const uint8_t *b) {
  uint64_t x[2], y[2];
  memcpy(x, a, sizeof x);
  memcpy(y, b, sizeof y);
  return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

// MARK: libIPSec_MB

#if defined(__x86_64__) && !defined(__APPLE__)

/// What a call leaves behind, among it a part of the key stream. The library has 88 bytes of it.
typedef struct {
  _Alignas(64) uint8_t bytes[128];
} ipsec_context;

static struct {
  void (*prepare)(const void *, void *);
  void (*seal)(
      const void *, void *, uint8_t *, const uint8_t *, uint64_t, const uint8_t *, const uint8_t *, uint64_t, uint8_t *,
      uint64_t);
  void (*open)(
      const void *, void *, uint8_t *, const uint8_t *, uint64_t, const uint8_t *, const uint8_t *, uint64_t, uint8_t *,
      uint64_t);
} ipsec;

static void ipsec_prepare(void *state, const uint8_t *key) { ipsec.prepare(key, state); }

static void ipsec_seal(
    const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *plain, size_t count,
    uint8_t *sealed) {
  ipsec_context context;
  uint8_t tag[gcm_tag_size];
  ipsec.seal(state, &context, sealed, plain, count, nonce, data, data_count, tag, sizeof tag);
  memcpy(sealed + count, tag, sizeof tag);
  forget(&context, sizeof context);
}

static bool ipsec_open(
    const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *sealed, size_t count,
    uint8_t *plain) {
  ipsec_context context;
  uint8_t tag[gcm_tag_size];
  ipsec.open(state, &context, plain, sealed, count, nonce, data, data_count, tag, sizeof tag);
  forget(&context, sizeof context);
  if (is_same_tag(tag, sealed + count)) return true;
  // The library decrypts before it knows.
  forget(plain, count);
  return false;
}

static const gcm_library ipsec_library = {ipsec_prepare, ipsec_seal, ipsec_open};

/// The ending of the names of the functions for this processor; null if there are none.
static const char *ipsec_kind(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("aes") || !__builtin_cpu_supports("pclmul")) return NULL;
  if (__builtin_cpu_supports("vaes") && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return "vaes_avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return "avx_gen4";
  return __builtin_cpu_supports("sse4.2") ? "sse" : NULL;
}

/// Whether a prepared key fits the room for it. What lies behind it has to stay as it is.
static bool ipsec_key_fits(void) {
  enum { examined = 8192, mark = 0xA5 };
  uint8_t *state = aligned_alloc(64, examined);
  if (!state) return false;
  memset(state, mark, examined);
  const uint8_t key[gcm_key_size] = {0};
  ipsec.prepare(key, state);
  bool fits = true;
  for (size_t index = gcm_state_size; index < examined; index++) fits = fits && state[index] == mark;
  free(state);
  return fits;
}

const gcm_library *gcm_ipsec_mb(void) {
  const char *kind = ipsec_kind();
  if (!kind) return NULL;
  void *library = dlopen("libIPSec_MB.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return NULL;
  char prepare[64] = "aes_gcm_pre_256_", seal[64] = "aes_gcm_enc_256_", open[64] = "aes_gcm_dec_256_";
  strcat(prepare, kind);
  strcat(seal, kind);
  strcat(open, kind);
  const function functions[] = {{prepare, &ipsec.prepare}, {seal, &ipsec.seal}, {open, &ipsec.open}};
  if (!find_all(library, functions, sizeof functions / sizeof *functions) || !ipsec_key_fits()) return NULL;
  return &ipsec_library;
}

#else

const gcm_library *gcm_ipsec_mb(void) { return NULL; }

#endif

// MARK: libcrypto

static struct {
  void *(*fetch)(void *, const char *, const char *);
  void *(*new)(void);
  void (*free)(void *);
  int (*start)(void *, const void *, const uint8_t *, const uint8_t *, int, const void *);
  int (*update)(void *, uint8_t *, int *, const uint8_t *, int);
  int (*end)(void *, uint8_t *, int *);
  int (*control)(void *, int, int, void *);
} crypto;

static void *crypto_gcm;

enum { get_tag = 0x10, set_tag = 0x11 };

/// The state is the key itself: what the library makes of it is not meant for several threads.
static void crypto_prepare(void *state, const uint8_t *key) { memcpy(state, key, gcm_key_size); }

/// Encrypts or decrypts with the tag at `tag`. Returns whether it worked and, to open, whether the tag is genuine.
static bool crypto_run(
    bool seals, const void *key, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *bytes,
    size_t count, uint8_t *result, uint8_t *tag) {
  void *context = crypto.new();
  if (!context) return false;
  int written;
  bool is_done = crypto.start(context, crypto_gcm, key, nonce, seals, NULL) == 1 &&
                 (data_count == 0 || crypto.update(context, NULL, &written, data, (int)data_count) == 1) &&
                 (count == 0 || crypto.update(context, result, &written, bytes, (int)count) == 1) &&
                 (seals || crypto.control(context, set_tag, gcm_tag_size, tag) == 1) &&
                 crypto.end(context, result + count, &written) == 1 &&
                 (!seals || crypto.control(context, get_tag, gcm_tag_size, tag) == 1);
  crypto.free(context);
  return is_done;
}

static void crypto_seal(
    const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *plain, size_t count,
    uint8_t *sealed) {
  // Bytes that are not sealed must never be taken for such: without memory there is no way on.
  if (!crypto_run(true, state, nonce, data, data_count, plain, count, sealed, sealed + count)) abort();
}

static bool crypto_open(
    const void *state, const uint8_t *nonce, const uint8_t *data, size_t data_count, const uint8_t *sealed, size_t count,
    uint8_t *plain) {
  uint8_t tag[gcm_tag_size];
  memcpy(tag, sealed + count, sizeof tag);
  if (crypto_run(false, state, nonce, data, data_count, sealed, count, plain, tag)) return true;
  forget(plain, count);
  return false;
}

static const gcm_library crypto_library = {crypto_prepare, crypto_seal, crypto_open};

const gcm_library *gcm_libcrypto(void) {
#ifdef __APPLE__
  const char *names[] = {
      "libcrypto.3.dylib", "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib", "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib"};
#else
  const char *names[] = {"libcrypto.so.3"};
#endif
  void *library = NULL;
  for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) return NULL;
  const function functions[] = {
      {"EVP_CIPHER_fetch", &crypto.fetch},       {"EVP_CIPHER_CTX_new", &crypto.new},
      {"EVP_CIPHER_CTX_free", &crypto.free},     {"EVP_CipherInit_ex2", &crypto.start},
      {"EVP_CipherUpdate", &crypto.update},      {"EVP_CipherFinal_ex", &crypto.end},
      {"EVP_CIPHER_CTX_ctrl", &crypto.control},
  };
  if (!find_all(library, functions, sizeof functions / sizeof *functions)) return NULL;
  crypto_gcm = crypto.fetch(NULL, "AES-256-GCM", NULL);
  return crypto_gcm ? &crypto_library : NULL;
}
