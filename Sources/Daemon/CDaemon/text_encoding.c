#include "text_encoding.h"

#include <iconv.h>
#include <pthread.h>

// Names that glibc, musl and Apple's libiconv know. CP932 is what Windows calls Shift-JIS: 0x5C and 0x7E are ASCII, and the
// characters that scanners' vendors add are there.
static const char *const names[2][2] = {{"GB18030", "GB18030"}, {"CP932", "SHIFT_JIS"}};

// A converter stays open: glibc loads it from a file, and would unload it again.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static iconv_t converters[2];
static int is_open[2];

static int open_converter(int encoding) {
  for (int i = 0; i < 2 && !is_open[encoding]; i++) {
    converters[encoding] = iconv_open("UTF-8", names[encoding][i]);
    is_open[encoding] = converters[encoding] != (iconv_t)-1;
  }
  return is_open[encoding];
}

ptrdiff_t shelfmark_decode_text(
    int encoding, const uint8_t *bytes, size_t count, uint8_t *text, size_t capacity) {
  if (encoding < 0 || encoding > 1) return SHELFMARK_NO_CONVERTER;
  ptrdiff_t result = SHELFMARK_NO_CONVERTER;
  pthread_mutex_lock(&mutex);
  if (open_converter(encoding)) {
    char *input = (char *)bytes;
    char *output = (char *)text;
    size_t input_left = count, output_left = capacity;
    // The first call resets the converter; the last one writes what it holds back.
    iconv(converters[encoding], NULL, NULL, NULL, NULL);
    int is_text = iconv(converters[encoding], &input, &input_left, &output, &output_left) != (size_t)-1 &&
                  iconv(converters[encoding], NULL, NULL, &output, &output_left) != (size_t)-1 && input_left == 0;
    result = is_text ? (ptrdiff_t)(capacity - output_left) : SHELFMARK_NOT_TEXT;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}
