#ifndef COPENAPI_H
#define COPENAPI_H

#include <stddef.h>

/// The bytes of `openapi.json`, which live as long as the process.
///
/// The compiler puts the file into the program (`#embed`), so that the executable can be copied alone.
///
/// - Parameter byte_count: Set to the number of bytes.
const unsigned char *openapi_document(size_t *byte_count);

#endif
