// The binary record that every peer without columns stores.
//
//     product                                         relation
//     0   4  byte count of all                        0   4  byte count of all
//     4   1  four flags                               8   8  four lengths of two bytes: productId, subProductId,
//     6  26  thirteen lengths of two bytes                   id, orgId
//     32  8  categoryId                               16  8  groupNum
//     40  8  weight                                   24     the texts
//     48     the texts: barcode, id, name, brand, brandId, category, createBy, createTime, orgId, skuCode, unit,
//            updateBy, updateTime
//        48  groupNum, delFlag, length, tall, volume, wide
//
// What a lookup touches (barcode, categoryId, weight, the length of the name) stands in the first 64 bytes: no store
// could ask for a better record.
#pragma once

#include <stdbool.h>

#include "include/peers.h"

enum {
  RECORD_TEXTS = 48,
  RECORD_TAIL = 48,
  TEXT_BARCODE = 0,
  TEXT_ID = 1,
  TEXT_NAME = 2,
  RELATION_TEXTS = 24,
};

typedef struct {
  const uint8_t *bytes;
  size_t count;
} slice;

static inline uint32_t load32(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, 4);
  return value;
}

static inline uint16_t load16(const uint8_t *bytes) {
  uint16_t value;
  memcpy(&value, bytes, 2);
  return value;
}

static inline int64_t load64(const uint8_t *bytes) {
  int64_t value;
  memcpy(&value, bytes, 8);
  return value;
}

static inline double load_double(const uint8_t *bytes) {
  double value;
  memcpy(&value, bytes, 8);
  return value;
}

static inline bool is_same(slice a, slice b) { return a.count == b.count && memcmp(a.bytes, b.bytes, a.count) == 0; }

static inline uint32_t text_count(const uint8_t *record, int text) { return load16(record + 6 + 2 * text); }

static inline slice record_barcode(const uint8_t *record) {
  return (slice){record + RECORD_TEXTS, text_count(record, TEXT_BARCODE)};
}

static inline slice record_id(const uint8_t *record) {
  return (slice){record + RECORD_TEXTS + text_count(record, TEXT_BARCODE), text_count(record, TEXT_ID)};
}

/// What a lookup adds to the sum: an integer, the length of a text, a double.
static inline uint64_t touch(const uint8_t *record) {
  return (uint64_t)load64(record + 32) + text_count(record, TEXT_NAME) + (uint64_t)load64(record + 40);
}

/// What the relations of a set add to the sum.
static inline uint64_t touch_relations(slice records) {
  uint64_t sum = 0;
  for (size_t offset = 0; offset < records.count; offset += load32(records.bytes + offset))
    sum += (uint64_t)load64(records.bytes + offset + 16);
  return sum;
}

static inline slice relation_set(const uint8_t *record) {
  return (slice){record + RELATION_TEXTS, load16(record + 8)};
}

static inline void record_fields(const uint8_t *record, peer_fields *fields) {
  const uint8_t *text = record + RECORD_TEXTS;
  for (int index = 0; index < PEER_TEXT_COUNT; index++) {
    fields->texts[index] = text;
    fields->byte_counts[index] = text_count(record, index);
    text += fields->byte_counts[index];
  }
  fields->flags = record[4];
  fields->category_id = load64(record + 32);
  fields->weight = load_double(record + 40);
  fields->group_num = load64(text);
  fields->del_flag = load64(text + 8);
  fields->length = load_double(text + 16);
  fields->tall = load_double(text + 24);
  fields->volume = load_double(text + 32);
  fields->wide = load_double(text + 40);
}

/// Keeps the message of a failure for this thread; returns -1.
int peer_fail(const char *call, const char *message);
