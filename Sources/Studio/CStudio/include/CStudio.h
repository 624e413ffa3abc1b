#ifndef CSTUDIO_H
#define CSTUDIO_H

#include <stddef.h>

/// A file of the pages, which the compiler put into the program. All pointers live as long as the process.
struct studio_asset {
    /// The name below `Sources/Studio/Studio/Web`.
    const char *name;
    const unsigned char *bytes;
    size_t byte_count;
};

/// The number of files.
size_t studio_asset_count(void);

/// The file at an index below the number of files.
struct studio_asset studio_asset_at(size_t index);

#endif
