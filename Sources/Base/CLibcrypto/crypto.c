#include "CLibcrypto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// What OpenSSL 3 promises about its binary interface: the members of this structure, and the number of a text.

typedef struct {
  const char *key;
  unsigned type;
  void *data;
  size_t size, written;
} parameter;

enum { type_text = 4 };

static struct {
  void *(*fetch_digest)(void *, const char *, const char *);
  void *(*new_digest)(void);
  void (*free_digest)(void *);
  int (*begin_digest)(void *, const void *, const parameter *);
  int (*update_digest)(void *, const void *, size_t);
  int (*copy_digest)(void *, const void *);
  int (*end_digest)(void *, unsigned char *, unsigned *);
  void *(*fetch_mac)(void *, const char *, const char *);
  void *(*new_mac)(void *);
  void (*free_mac)(void *);
  int (*begin_mac)(void *, const unsigned char *, size_t, const parameter *);
  int (*update_mac)(void *, const unsigned char *, size_t);
  void *(*copy_mac)(const void *);
  int (*end_mac)(void *, unsigned char *, size_t *, size_t);
} crypto;

/// The two algorithms; each is looked up once, because that costs more than hashing a short text.
static void *sha256, *hmac;
static const char *problem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
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
  if (!library) {
    problem = "OpenSSL's library, libcrypto 3, is not on this system; install it (on Debian: apt install libssl3)";
    return;
  }
  const struct {
    const char *name;
    void *target;
  } functions[] = {
      {"EVP_MD_fetch", &crypto.fetch_digest},
      {"EVP_MD_CTX_new", &crypto.new_digest},
      {"EVP_MD_CTX_free", &crypto.free_digest},
      {"EVP_DigestInit_ex2", &crypto.begin_digest},
      {"EVP_DigestUpdate", &crypto.update_digest},
      {"EVP_MD_CTX_copy_ex", &crypto.copy_digest},
      {"EVP_DigestFinal_ex", &crypto.end_digest},
      {"EVP_MAC_fetch", &crypto.fetch_mac},
      {"EVP_MAC_CTX_new", &crypto.new_mac},
      {"EVP_MAC_CTX_free", &crypto.free_mac},
      {"EVP_MAC_init", &crypto.begin_mac},
      {"EVP_MAC_update", &crypto.update_mac},
      {"EVP_MAC_CTX_dup", &crypto.copy_mac},
      {"EVP_MAC_final", &crypto.end_mac},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    void *function = dlsym(library, functions[index].name);
    if (!function) {
      problem = "the system's libcrypto lacks functions of OpenSSL 3.0; install version 3.0 or later";
      return;
    }
    memcpy(functions[index].target, &function, sizeof function);
  }
  sha256 = crypto.fetch_digest(NULL, "SHA256", NULL);
  hmac = crypto.fetch_mac(NULL, "HMAC", NULL);
  if (!sha256 || !hmac) problem = "the system's libcrypto has no SHA-256 or no HMAC; check OpenSSL's configuration";
}

const char *shelfmark_crypto_load(void) {
  pthread_once(&once, load);
  return problem;
}

struct shelfmark_crypto_hash {
  /// One of the two is null.
  void *digest, *mac;
};

shelfmark_crypto_hash *shelfmark_crypto_sha256(void) {
  shelfmark_crypto_hash *hash = calloc(1, sizeof *hash);
  if (!hash) return NULL;
  hash->digest = crypto.new_digest();
  if (hash->digest && crypto.begin_digest(hash->digest, sha256, NULL) == 1) return hash;
  shelfmark_crypto_free(hash);
  return NULL;
}

shelfmark_crypto_hash *shelfmark_crypto_hmac_sha256(const uint8_t *key, size_t count) {
  shelfmark_crypto_hash *hash = calloc(1, sizeof *hash);
  if (!hash) return NULL;
  char name[] = "SHA256";
  const parameter parameters[] = {{"digest", type_text, name, sizeof name - 1, (size_t)-1}, {NULL, 0, NULL, 0, 0}};
  // A key without bytes is a key too, and needs an address.
  static const uint8_t nothing;
  hash->mac = crypto.new_mac(hmac);
  if (hash->mac && crypto.begin_mac(hash->mac, key ? key : &nothing, count, parameters) == 1) return hash;
  shelfmark_crypto_free(hash);
  return NULL;
}

void shelfmark_crypto_free(shelfmark_crypto_hash *hash) {
  crypto.free_digest(hash->digest);
  crypto.free_mac(hash->mac);
  free(hash);
}

bool shelfmark_crypto_update(shelfmark_crypto_hash *hash, const uint8_t *bytes, size_t count) {
  if (count == 0) return true;
  if (hash->digest) return crypto.update_digest(hash->digest, bytes, count) == 1;
  return crypto.update_mac(hash->mac, bytes, count) == 1;
}

bool shelfmark_crypto_digest(const shelfmark_crypto_hash *hash, uint8_t *digest) {
  bool is_written = false;
  if (hash->digest) {
    void *copy = crypto.new_digest();
    unsigned count = 0;
    is_written = copy && crypto.copy_digest(copy, hash->digest) == 1 && crypto.end_digest(copy, digest, &count) == 1;
    crypto.free_digest(copy);
  } else {
    void *copy = crypto.copy_mac(hash->mac);
    size_t count = 0;
    is_written = copy && crypto.end_mac(copy, digest, &count, shelfmark_crypto_digest_size) == 1;
    crypto.free_mac(copy);
  }
  return is_written;
}
