#define _GNU_SOURCE
#include "CProcessSupport.h"

#include <string.h>
#include <sys/mman.h>

int show_again(void *from, void *to, size_t count) {
  // An old size of zero leaves the old mapping and makes a second one of the same pages.
  if (mremap(from, 0, count, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) return -1;
  return mprotect(to, count, PROT_READ);
}

bool memory_has(const void *bytes, size_t count, const void *part, size_t part_count) {
  return memmem(bytes, count, part, part_count) != NULL;
}
