#include "include/page_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// Calls `visit` with every file that has contents.
static int for_each_file(
    const char *directory, int (*visit)(int file, size_t byte_count, void *argument), void *argument) {
  DIR *entries = opendir(directory);
  if (!entries) return -1;
  int code = 0;
  struct dirent *entry;
  while (code == 0 && (entry = readdir(entries))) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) continue;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      code = -1;
      break;
    }
    code = visit(file, (size_t)status.st_size, argument);
    close(file);
  }
  closedir(entries);
  return code;
}

typedef struct {
  size_t byte_count, resident_count;
} totals;

static size_t resident_bytes(int file, size_t byte_count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), page_count = (byte_count + page - 1) / page, resident = 0;
  void *mapped = mmap(NULL, byte_count, PROT_READ, MAP_SHARED, file, 0);
  unsigned char *pages = malloc(page_count);
  if (mapped != MAP_FAILED && mincore(mapped, byte_count, pages) == 0)
    for (size_t index = 0; index < page_count; index++) resident += pages[index] & 1 ? page : 0;
  free(pages);
  if (mapped != MAP_FAILED) munmap(mapped, byte_count);
  return resident;
}

static int drop(int file, size_t byte_count, void *argument) {
  totals *t = argument;
  // Pages that are not written yet would stay.
  fdatasync(file);
  if (posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) return -1;
  t->byte_count += byte_count;
  t->resident_count += resident_bytes(file, byte_count);
  return 0;
}

int page_cache_drop(const char *directory, size_t *byte_count, size_t *resident_count) {
  totals t = {0, 0};
  int code = for_each_file(directory, drop, &t);
  *byte_count = t.byte_count;
  *resident_count = t.resident_count;
  return code;
}

static int fill(int file, size_t byte_count, void *argument) {
  static char buffer[1 << 20];
  while (read(file, buffer, sizeof buffer) > 0) {}
  return 0;
}

int page_cache_fill(const char *directory) { return for_each_file(directory, fill, NULL); }
