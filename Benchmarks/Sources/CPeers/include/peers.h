// One C interface for every store that `compare` measures, so that Swift has one adaptor for all of them and their
// loops run in C. Each store is a file beside this folder; it is compiled where the manifest found its headers.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Texts of a product, in the order of a record; record.h has its layout.
enum { PEER_TEXT_COUNT = 13 };

/// Keys of one length or less, `stride` bytes apart.
typedef struct {
  const uint8_t *bytes;
  const uint8_t *byte_counts;
  size_t stride;
} peer_keys;

/// All fields of a product, lent until the next call on the same session.
typedef struct {
  const uint8_t *texts[PEER_TEXT_COUNT];
  uint32_t byte_counts[PEER_TEXT_COUNT];
  int64_t category_id, group_num, del_flag;
  double length, tall, volume, weight, wide;
  uint8_t flags;
} peer_fields;

static inline const uint8_t *peer_text(const peer_fields *fields, int index, uint32_t *byte_count) {
  *byte_count = fields->byte_counts[index];
  return fields->texts[index];
}

/// The loops of ``peer_api/lookups``.
typedef enum {
  /// By barcode, one after the other.
  PEER_HITS,
  /// By barcode; which key comes next depends on the answer.
  PEER_DEPENDENT,
  PEER_BY_ID,
  /// By the id of a set: the pieces of all its relations are added.
  PEER_RELATIONS,
  /// By barcode, many at once.
  PEER_BATCH,
} peer_operation;

/// A store. Functions that return `int` return 0, or -1 with a text in ``peer_message``.
typedef struct {
  const char *name;
  /// Peers of one store use the same files.
  const char *store;
  /// What was chosen, in a sentence.
  const char *configuration;
  /// So many products are too many; 0 for no limit.
  size_t limit;

  // Filling: once, in a process of its own. Relations come before products.
  void *(*create)(const char *directory, size_t product_count);
  /// `is_shared`: another product has this barcode. A store that would have to look may rely on it.
  int (*put_product)(void *filling, const uint8_t *record, size_t byte_count, int is_shared);
  /// All relations of one set, one record after the other.
  int (*put_relations)(
      void *filling, const uint8_t *set, size_t set_count, const uint8_t *records, size_t byte_count);
  /// Makes all of it durable and closes.
  int (*finish)(void *filling);

  // Reading. A session belongs to one thread and shows the last commit before it began.
  void *(*open)(const char *directory, int writable);
  void (*close)(void *store);
  void *(*begin_session)(void *store);
  void (*end_session)(void *session);
  int (*has)(peer_operation operation);
  int (*lookups)(
      void *session, peer_operation operation, const peer_keys *keys, size_t start, size_t count, uint64_t *sum);
  /// 1 for a product that is there, 0 for one that is not.
  int (*fields)(void *session, const uint8_t *id, size_t id_count, peer_fields *fields);

  // Updating, on a store that was opened to be written; all null where it cannot be.
  int (*begin)(void *store);
  int (*upsert)(void *store, const uint8_t *record, size_t byte_count);
  /// Puts a set's relations in the place of those it has; none where `byte_count` is 0.
  int (*replace_relations)(
      void *store, const uint8_t *set, size_t set_count, const uint8_t *records, size_t byte_count);
  int (*erase)(void *store, const uint8_t *id, size_t id_count);
  /// Returns when everything since `begin` is durable.
  int (*commit)(void *store);

  /// Gives back what dead rows take, on a store that was opened to be written; null where there is no such thing.
  int (*compact)(void *store, const char *directory);
} peer_api;

/// The peers of this build, ended by null.
const peer_api *const *peer_list(void);

/// Why the last call on this thread failed.
const char *peer_message(void);

#ifdef __cplusplus
}
#endif
