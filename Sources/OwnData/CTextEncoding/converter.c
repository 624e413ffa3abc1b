#include "CTextEncoding.h"

#include <errno.h>
#include <iconv.h>

void *shelfmark_converter_open(const char *name) {
  iconv_t converter = iconv_open("UTF-8", name);
  return converter == (iconv_t)-1 ? NULL : (void *)converter;
}

void *shelfmark_encoder_open(const char *name) {
  iconv_t converter = iconv_open(name, "UTF-8");
  return converter == (iconv_t)-1 ? NULL : (void *)converter;
}

shelfmark_conversion shelfmark_converter_run(
    void *converter, const uint8_t *bytes, size_t count, uint8_t *text, size_t capacity) {
  char *input = (char *)bytes, *output = (char *)text;
  size_t input_left = count, output_left = capacity;
  size_t result = iconv((iconv_t)converter, bytes ? &input : NULL, &input_left, &output, &output_left);
  int status = 0;
  if (result == (size_t)-1) status = errno == E2BIG ? 1 : errno == EINVAL ? 2 : 3;
  shelfmark_conversion conversion = {count - input_left, capacity - output_left, status};
  return conversion;
}

void shelfmark_converter_close(void *converter) { iconv_close((iconv_t)converter); }
