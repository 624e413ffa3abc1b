// The page cache of the operating system, asked about the files of one directory.
#pragma once

#include <stddef.h>

/// Asks the system to forget the pages of every file in `directory`, and counts bytes and those that stay in memory.
///
/// Returns 0, or -1 where a file could not be opened.
int page_cache_drop(const char *directory, size_t *byte_count, size_t *resident_count);

/// Reads every file in `directory`, so that its pages are in memory.
int page_cache_fill(const char *directory);
