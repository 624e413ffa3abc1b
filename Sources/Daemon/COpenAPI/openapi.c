#include "COpenAPI.h"

// `#embed` is C23; clang takes it in older C as well, with a warning.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char document[] = {
#embed "openapi.json"
};

const unsigned char *openapi_document(size_t *byte_count) {
    *byte_count = sizeof document;
    return document;
}
