#include "CLibcrypto.h"

#include <dlfcn.h>
#include <limits.h>
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

/// What only signatures, SHA-512 and random bytes need.
static struct {
  int (*random)(unsigned char *, int);
  void *(*new_private_key)(void *, const char *, const char *, const unsigned char *, size_t);
  void *(*new_public_key)(void *, const char *, const char *, const unsigned char *, size_t);
  int (*get_public_key)(const void *, unsigned char *, size_t *);
  void (*free_key)(void *);
  int (*begin_signature)(void *, void **, const char *, void *, const char *, void *, const parameter *);
  int (*sign)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
  int (*begin_verification)(void *, void **, const char *, void *, const char *, void *, const parameter *);
  int (*verify)(void *, const unsigned char *, size_t, const unsigned char *, size_t);
  int (*mark_errors)(void);
  int (*drop_errors)(void);
} signatures;

/// The algorithms; each is looked up once, because that costs more than hashing a short text.
static void *sha256, *sha512, *hmac;
static void *library;
static const char *problem, *signatures_problem;
static pthread_once_t once = PTHREAD_ONCE_INIT, signatures_once = PTHREAD_ONCE_INIT;

typedef struct {
  const char *name;
  void *target;
} function;

/// Sets each target to the function of that name; returns whether the library has them all.
static bool find(const function *functions, size_t count) {
  for (size_t index = 0; index < count; index++) {
    void *found = dlsym(library, functions[index].name);
    if (!found) return false;
    memcpy(functions[index].target, &found, sizeof found);
  }
  return true;
}

static const char too_old[] = "the system's libcrypto lacks functions of OpenSSL 3.0; install version 3.0 or later";

static void load(void) {
#ifdef __APPLE__
  const char *names[] = {
      "libcrypto.3.dylib", "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib", "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib"};
#else
  const char *names[] = {"libcrypto.so.3"};
#endif
  for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) {
    problem = "OpenSSL's library, libcrypto 3, is not on this system; install it (on Debian: apt install libssl3)";
    return;
  }
  const function functions[] = {
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
  if (!find(functions, sizeof functions / sizeof *functions)) {
    problem = too_old;
    return;
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

// MARK: Signatures

static const char ed25519[] = "ED25519";

static void load_signatures(void) {
  signatures_problem = shelfmark_crypto_load();
  if (signatures_problem) return;
  const function functions[] = {
      {"RAND_bytes", &signatures.random},
      {"EVP_PKEY_new_raw_private_key_ex", &signatures.new_private_key},
      {"EVP_PKEY_new_raw_public_key_ex", &signatures.new_public_key},
      {"EVP_PKEY_get_raw_public_key", &signatures.get_public_key},
      {"EVP_PKEY_free", &signatures.free_key},
      {"EVP_DigestSignInit_ex", &signatures.begin_signature},
      {"EVP_DigestSign", &signatures.sign},
      {"EVP_DigestVerifyInit_ex", &signatures.begin_verification},
      {"EVP_DigestVerify", &signatures.verify},
      {"ERR_set_mark", &signatures.mark_errors},
      {"ERR_pop_to_mark", &signatures.drop_errors},
  };
  if (!find(functions, sizeof functions / sizeof *functions)) {
    signatures_problem = too_old;
    return;
  }
  sha512 = crypto.fetch_digest(NULL, "SHA512", NULL);
  const uint8_t seed[shelfmark_crypto_ed25519_seed_size] = {0};
  void *key = signatures.new_private_key(NULL, ed25519, NULL, seed, sizeof seed);
  if (!sha512 || !key) {
    signatures_problem = "the system's libcrypto has no SHA-512 or no Ed25519; check OpenSSL's configuration";
  }
  signatures.free_key(key);
}

const char *shelfmark_crypto_load_signatures(void) {
  pthread_once(&signatures_once, load_signatures);
  return signatures_problem;
}

/// No bytes need an address too.
static const uint8_t no_bytes;

bool shelfmark_crypto_sha512(const uint8_t *bytes, size_t count, uint8_t *digest) {
  void *hash = crypto.new_digest();
  unsigned size = 0;
  bool is_written = hash && crypto.begin_digest(hash, sha512, NULL) == 1 &&
                    (count == 0 || crypto.update_digest(hash, bytes, count) == 1) &&
                    crypto.end_digest(hash, digest, &size) == 1;
  crypto.free_digest(hash);
  return is_written;
}

bool shelfmark_crypto_random(uint8_t *bytes, size_t count) {
  return count <= INT_MAX && signatures.random(bytes, (int)count) == 1;
}

bool shelfmark_crypto_ed25519_public_key(const uint8_t *seed, uint8_t *key) {
  void *pair = signatures.new_private_key(NULL, ed25519, NULL, seed, shelfmark_crypto_ed25519_seed_size);
  size_t size = shelfmark_crypto_ed25519_key_size;
  bool is_written = pair && signatures.get_public_key(pair, key, &size) == 1;
  signatures.free_key(pair);
  return is_written;
}

bool shelfmark_crypto_ed25519_sign(const uint8_t *seed, const uint8_t *bytes, size_t count, uint8_t *signature) {
  void *pair = signatures.new_private_key(NULL, ed25519, NULL, seed, shelfmark_crypto_ed25519_seed_size);
  void *context = crypto.new_digest();
  size_t size = shelfmark_crypto_ed25519_signature_size;
  bool is_written = pair && context &&
                    signatures.begin_signature(context, NULL, NULL, NULL, NULL, pair, NULL) == 1 &&
                    signatures.sign(context, signature, &size, count > 0 ? bytes : &no_bytes, count) == 1;
  crypto.free_digest(context);
  signatures.free_key(pair);
  return is_written;
}

int shelfmark_crypto_ed25519_verify(
    const uint8_t *key, const uint8_t *signature, const uint8_t *bytes, size_t count) {
  // A wrong signature leaves errors in the list of this thread, where another user of libcrypto would find them.
  signatures.mark_errors();
  void *public_key = signatures.new_public_key(NULL, ed25519, NULL, key, shelfmark_crypto_ed25519_key_size);
  void *context = crypto.new_digest();
  int result = -1;
  if (public_key && context &&
      signatures.begin_verification(context, NULL, NULL, NULL, NULL, public_key, NULL) == 1) {
    const size_t size = shelfmark_crypto_ed25519_signature_size;
    result = signatures.verify(context, signature, size, count > 0 ? bytes : &no_bytes, count) == 1;
  }
  crypto.free_digest(context);
  signatures.free_key(public_key);
  signatures.drop_errors();
  return result;
}
