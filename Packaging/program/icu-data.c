/// An empty package of ICU's common data, linked instead of the 31 MB that the Swift toolchain has.
///
/// Names of months and languages, collation, converters, and rules of time zones are in these data. The programs format
/// and compare nothing by a locale, and ask the C library for the time zone; a test of the sources checks that. ICU then
/// finds nothing under the names that it looks for, also not in /usr/share/icu, and Foundation goes on in English and in
/// UTC. No code of the programs asks it.
///
/// The layout is that of ICU's `udata.h` and `ucmndata.h` for the format "CmnD": a header, then a table of contents.
///
///     offset  size  field
///     0       2     number of bytes of the header, padding included
///     2       2     magic: DA 27
///     4       20    UDataInfo: its size, byte order, family of characters, size of UChar, format, versions
///     24      8     padding
///     32      4     number of entries: 0
///     36      8     an entry that ICU reads before it looks at their number: offsets of a name and of data
///     44      4     that name: empty

#include <stdint.h>

#ifndef ICU_DATA
#error "ICU_DATA is the name of the toolchain's data, such as icudt76_dat"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the header below says little-endian"
#endif

__attribute__((aligned(16))) const struct {
  uint16_t headerByteCount;
  uint8_t magic[2];
  uint16_t infoByteCount, reservedWord;
  uint8_t isBigEndian, charsetFamily, sizeofUChar, reservedByte;
  uint8_t dataFormat[4], formatVersion[4], dataVersion[4];
  uint8_t padding[8];
  uint32_t entryCount, nameOffset, dataOffset, emptyName;
} ICU_DATA = {
  .headerByteCount = 32, .magic = {0xDA, 0x27}, .infoByteCount = 20, .sizeofUChar = 2,
  .dataFormat = {'C', 'm', 'n', 'D'}, .formatVersion = {1}, .nameOffset = 12,
};
