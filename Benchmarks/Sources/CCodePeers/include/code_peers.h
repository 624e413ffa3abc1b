// One C interface for the stores that `compare-codes` measures. Each has products by id, ids by barcode, and further codes
// that lead to an id and have a quantity.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes that are lent for a call.
typedef struct {
  const void *bytes;
  size_t count;
} code_text;

/// A store. Functions that return `int` return 0, or -1 with a text in ``code_message``.
typedef struct {
  const char *name;
  /// What was chosen, in a sentence.
  const char *configuration;
  /// Opens the store in a directory, which is empty when the store is filled. Filling need not be durable.
  void *(*open)(const char *directory, int is_filling);
  void (*close)(void *store);
  int (*begin)(void *store);
  /// Puts a product, in place of the one with its id, whose barcode is the same. Its codes are removed.
  int (*put_product)(void *store, code_text id, code_text barcode, code_text body);
  /// Puts a code of a product that was put in this transaction.
  int (*put_code)(void *store, code_text code, code_text id, uint32_t quantity, code_text unit);
  /// Returns when everything since `begin` is durable.
  int (*commit)(void *store);
  /// Ends filling: what a store does to be read fast.
  int (*finish)(void *store);
  /// Finds a product by its barcode, or by a further code. Adds the last byte of its body, and the quantity, to the sum.
  /// Returns 1 if it is there.
  int (*find_barcode)(void *store, code_text barcode, uint64_t *sum);
  int (*find_code)(void *store, code_text code, uint64_t *sum);
} code_peer;

/// The stores of this build, ended by null.
const code_peer *const *code_peer_list(void);

/// Why the last call on this thread failed.
const char *code_message(void);

/// For the stores: keeps a message, and returns -1.
int code_failed(const char *call, const char *why);

#ifdef __cplusplus
}
#endif
