// A catalogue in a store of keys and values:
//
//     barcode  -> the records of the products that have it, one after the other
//     id       -> the product's barcode
//     id       -> the record, of a product without a barcode
//     set's id -> the records of its relations, one after the other
//
// so that a lookup by barcode, which is what counts, asks the store once. A file that includes this has defined
// `store`, `session` and
//
//     static inline int kv_visit(session *, key_space, slice key, visitor *, void *)
//         calls the visitor with the value; 1 for a key that is there, 0 for one that is not, -1 for a failure
//     static int kv_read(store *, key_space, slice key, visitor *, void *)
//         the same for a writer, which sees what it wrote; and only where KV_IS_CONSTANT is not defined:
//     static int kv_put(store *, key_space, slice key, slice value)
//     static int kv_delete(store *, key_space, slice key)
#pragma once

#include <stdlib.h>

#include "record.h"

typedef enum { BY_BARCODE, BY_ID, WITHOUT_BARCODE, RELATIONS } key_space;

enum { LONGEST_KEY = 500 };

/// Sees a value; returns whether it has seen enough, where a key has several.
typedef bool visitor(void *argument, slice value);

static inline int kv_visit(session *s, key_space space, slice key, visitor *visit, void *argument);

// MARK: Lookups

static inline bool visit_touch(void *sum, slice value) {
  *(uint64_t *)sum += touch(value.bytes);
  return true;
}

static inline bool visit_relations(void *sum, slice value) {
  *(uint64_t *)sum += touch_relations(value);
  return true;
}

typedef struct {
  size_t count;
  uint8_t bytes[LONGEST_KEY];
} copied_key;

static inline bool visit_copy(void *argument, slice value) {
  copied_key *key = argument;
  key->count = value.count <= LONGEST_KEY ? value.count : LONGEST_KEY;
  memcpy(key->bytes, value.bytes, key->count);
  return true;
}

/// The record with one id, in a list of records.
typedef struct {
  slice id;
  visitor *visit;
  void *argument;
} choice;

static inline bool visit_choice(void *argument, slice value) {
  choice *wanted = argument;
  for (size_t offset = 0; offset < value.count; offset += load32(value.bytes + offset)) {
    const uint8_t *record = value.bytes + offset;
    if (is_same(record_id(record), wanted->id))
      return wanted->visit(wanted->argument, (slice){record, load32(record)});
  }
  return false;
}

static inline int visit_id(session *s, slice id, visitor *visit, void *argument) {
  copied_key barcode;
  int found = kv_visit(s, BY_ID, id, visit_copy, &barcode);
  if (found <= 0) return found;
  if (barcode.count == 0) return kv_visit(s, WITHOUT_BARCODE, id, visit, argument);
  choice wanted = {id, visit, argument};
  return kv_visit(s, BY_BARCODE, (slice){barcode.bytes, barcode.count}, visit_choice, &wanted);
}

static inline int lookup_barcode(session *s, slice key, uint64_t *answer) {
  return kv_visit(s, BY_BARCODE, key, visit_touch, answer);
}

static inline int lookup_id(session *s, slice key, uint64_t *answer) { return visit_id(s, key, visit_touch, answer); }

static inline int lookup_relations(session *s, slice key, uint64_t *answer) {
  return kv_visit(s, RELATIONS, key, visit_relations, answer);
}

#include "peer_loops.h"

/// Values that are lent inside a call only are copied for whoever reads all fields.
static inline bool visit_keep(void *argument, slice value) {
  static _Thread_local uint8_t kept[1 << 20];
  if (value.count > sizeof kept) return true;
  memcpy(kept, value.bytes, value.count);
  record_fields(kept, argument);
  return true;
}

static int read_fields(void *s, const uint8_t *id, size_t id_count, peer_fields *fields) {
  return visit_id(s, (slice){id, id_count}, visit_keep, fields);
}

// MARK: Writing

#ifndef KV_IS_CONSTANT

static int kv_read(store *db, key_space space, slice key, visitor *visit, void *argument);
static int kv_put(store *db, key_space space, slice key, slice value);
static int kv_delete(store *db, key_space space, slice key);

/// A value in the making.
typedef struct {
  uint8_t *bytes;
  size_t count, capacity;
} buffer;

static inline void buffer_append(buffer *b, slice more) {
  if (b->count + more.count > b->capacity) {
    b->capacity = 2 * (b->count + more.count);
    b->bytes = realloc(b->bytes, b->capacity);
  }
  memcpy(b->bytes + b->count, more.bytes, more.count);
  b->count += more.count;
}

/// Copies a list of records without the one that has `id`.
typedef struct {
  slice id;
  buffer *list;
} without;

static bool visit_without(void *argument, slice value) {
  without *w = argument;
  for (size_t offset = 0; offset < value.count; offset += load32(value.bytes + offset)) {
    slice record = {value.bytes + offset, load32(value.bytes + offset)};
    if (!is_same(record_id(record.bytes), w->id)) buffer_append(w->list, record);
  }
  return true;
}

/// Puts the list of a barcode without the product `id`, and with `record` where there is one.
static int put_list(store *db, slice barcode, slice id, slice record) {
  static _Thread_local buffer list;
  list.count = 0;
  without w = {id, &list};
  int found = kv_read(db, BY_BARCODE, barcode, visit_without, &w);
  if (found < 0) return -1;
  if (record.count > 0) buffer_append(&list, record);
  if (list.count > 0) return kv_put(db, BY_BARCODE, barcode, (slice){list.bytes, list.count});
  return found ? kv_delete(db, BY_BARCODE, barcode) : 0;
}

static int put_new(void *db, const uint8_t *bytes, size_t count, int is_shared) {
  slice record = {bytes, count}, barcode = record_barcode(bytes), id = record_id(bytes);
  if (barcode.count > LONGEST_KEY || id.count > LONGEST_KEY) return peer_fail("put", "a key is too long");
  if (kv_put(db, BY_ID, id, barcode) < 0) return -1;
  if (barcode.count == 0) return kv_put(db, WITHOUT_BARCODE, id, record);
  return is_shared ? put_list(db, barcode, id, record) : kv_put(db, BY_BARCODE, barcode, record);
}

static int put_relations(void *db, const uint8_t *set, size_t set_count, const uint8_t *records, size_t count) {
  return kv_put(db, RELATIONS, (slice){set, set_count}, (slice){records, count});
}

static int upsert(void *db, const uint8_t *bytes, size_t count) {
  slice record = {bytes, count}, barcode = record_barcode(bytes), id = record_id(bytes);
  if (barcode.count > LONGEST_KEY || id.count > LONGEST_KEY) return peer_fail("put", "a key is too long");
  copied_key old;
  int found = kv_read(db, BY_ID, id, visit_copy, &old);
  if (found < 0) return -1;
  slice old_barcode = {old.bytes, found ? old.count : 0};
  bool has_moved = !found || !is_same(old_barcode, barcode);
  if (found && has_moved) {
    int code = old.count > 0 ? put_list(db, old_barcode, id, (slice){NULL, 0}) : kv_delete(db, WITHOUT_BARCODE, id);
    if (code < 0) return -1;
  }
  if (has_moved && kv_put(db, BY_ID, id, barcode) < 0) return -1;
  return barcode.count > 0 ? put_list(db, barcode, id, record) : kv_put(db, WITHOUT_BARCODE, id, record);
}

static int replace_relations(void *db, const uint8_t *set, size_t set_count, const uint8_t *records, size_t count) {
  if (count > 0) return put_relations(db, set, set_count, records, count);
  return kv_delete(db, RELATIONS, (slice){set, set_count});
}

static int erase(void *db, const uint8_t *bytes, size_t count) {
  slice id = {bytes, count};
  copied_key barcode;
  int found = kv_read(db, BY_ID, id, visit_copy, &barcode);
  if (found <= 0) return found;
  int code = barcode.count > 0
                 ? put_list(db, (slice){barcode.bytes, barcode.count}, id, (slice){NULL, 0})
                 : kv_delete(db, WITHOUT_BARCODE, id);
  if (code < 0 || kv_delete(db, BY_ID, id) < 0) return -1;
  return kv_delete(db, RELATIONS, id);
}

#endif
