// The tables of the module SearchText, and functions that read them. Each function has an answer for every number and
// reads inside of the tables only, so its caller needs no pointers.
//
// README.md describes the tables; scripts/unicode-tables writes them.

#ifndef SHELFMARK_CSEARCHTABLES_H
#define SHELFMARK_CSEARCHTABLES_H

#include <stdint.h>

#define SEARCH_FOLD_LIMIT 0x40000
#define SEARCH_PINYIN_FIRST 0x3400
#define SEARCH_PINYIN_LIMIT 0x33000

extern const uint8_t search_ascii[0x80];
extern const uint16_t search_fold_first[SEARCH_FOLD_LIMIT >> 8];
extern const uint16_t search_fold_second[];
extern const uint16_t search_fold_blocks[];
extern const uint32_t search_sequences[];
extern const uint16_t search_sequence_count;
extern const uint16_t search_sequence_units[];
extern const uint16_t search_pinyin_first[(SEARCH_PINYIN_LIMIT - SEARCH_PINYIN_FIRST) >> 8];
extern const uint16_t search_pinyin_second[];
extern const uint16_t search_pinyin_blocks[];
extern const uint16_t search_pinyin_lists[];
extern const uint16_t search_pinyin_list_count;
extern const uint64_t search_pinyin_syllables[];
extern const uint16_t search_pinyin_syllable_count;

/// What becomes of a character, by its entry in the table:
///
///     0            a separator
///     1            a joiner: a separator that may stand inside of a model number or a name
///     2            a letter or digit that stays as it is
///     3            a CJK character that stays as it is
///     4            an ignored character, as if it were not there
///     5            a mark that is dropped
///     6 … 0x7F     a mark that stays; the greater entry comes after the smaller one, except that 6 moves past no mark
///     0x80 … 0xFF  replaced by an ASCII letter or digit: the lower seven bits
///     … 0x33FF     replaced by a sequence of characters: 0x100 + its number
///     0x3400 …     replaced by a Han character: the entry itself
enum {
  SEARCH_SEPARATOR = 0,
  SEARCH_JOINER = 1,
  SEARCH_WORD = 2,
  SEARCH_CJK = 3,
  SEARCH_IGNORED = 4,
  SEARCH_DROPPED_MARK = 5,
  SEARCH_FIRST_MARK = 6,
  SEARCH_FIRST_ASCII = 0x80,
  SEARCH_FIRST_SEQUENCE = 0x100,
  SEARCH_FIRST_HAN = 0x3400,
};

/// The letter or digit that an ASCII character is folded to; 0 for a separator, 1 for a joiner. The high bit of
/// `character` is ignored.
static inline uint8_t search_fold_ascii(uint8_t character) { return search_ascii[character & 0x7F]; }

/// The entry of a character, as above.
static inline uint16_t search_fold_entry(uint32_t scalar) {
  if (scalar >= SEARCH_FOLD_LIMIT) {
    // Variation selectors, and other characters that are not visible. Beyond them is private use.
    if (scalar >= 0xE0100 && scalar < 0xE01F0) return SEARCH_DROPPED_MARK;
    return scalar >= 0xE0000 && scalar < 0xE1000 ? SEARCH_IGNORED : SEARCH_SEPARATOR;
  }
  uint32_t second = search_fold_first[scalar >> 8] << 4 | (scalar >> 4 & 15);
  return search_fold_blocks[search_fold_second[second] << 4 | (scalar & 15)];
}

/// The UTF-16 of a sequence that replaces a character: the number of its first unit, times 32, plus how many units it
/// has. 0 if `entry` is not of a sequence.
static inline uint32_t search_sequence(uint16_t entry) {
  uint32_t number = (uint32_t)entry - SEARCH_FIRST_SEQUENCE;
  return number < search_sequence_count ? search_sequences[number] : 0;
}

/// A unit of the sequence with that description: a code unit of UTF-16, 0 from the end of the sequence on.
static inline uint16_t search_sequence_unit(uint32_t sequence, uint32_t position) {
  return position < (sequence & 31) ? search_sequence_units[(sequence >> 5) + position] : 0;
}

/// The readings of a character: up to four numbers of syllables, each in 16 bits and plus one, the most usual one in
/// the lowest bits; 0 after the last.
static inline uint64_t search_pinyin_readings(uint32_t scalar) {
  if (scalar < SEARCH_PINYIN_FIRST || scalar >= SEARCH_PINYIN_LIMIT) return 0;
  uint32_t offset = scalar - SEARCH_PINYIN_FIRST;
  uint32_t second = search_pinyin_first[offset >> 8] << 4 | (offset >> 4 & 15);
  uint16_t entry = search_pinyin_blocks[search_pinyin_second[second] << 4 | (offset & 15)];
  if (entry <= search_pinyin_syllable_count) return entry;
  uint32_t number = (uint32_t)entry - search_pinyin_syllable_count - 1;
  if (number >= search_pinyin_list_count) return 0;
  const uint16_t *list = &search_pinyin_lists[4 * number];
  return list[0] | (uint64_t)list[1] << 16 | (uint64_t)list[2] << 32 | (uint64_t)list[3] << 48;
}

/// The letters of a syllable, the first in the lowest byte, 0 after the last one. Syllables are numbered from 0 in the
/// order of the alphabet; 0 if there is none of that number.
static inline uint64_t search_pinyin_letters(uint16_t number) {
  return number < search_pinyin_syllable_count ? search_pinyin_syllables[number] : 0;
}

#endif
