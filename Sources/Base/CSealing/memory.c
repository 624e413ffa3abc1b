#include "CSealing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Pieces of memory that the system locks and leaves out of core dumps. Locking may be refused, by a limit of the process:
// then the pieces are used all the same.

struct shelfmark_chunk {
  struct shelfmark_chunk *before;
  size_t count;
};

enum { usual_chunk = 64 * 1024, alignment = 16 };

static struct shelfmark_chunk *map_chunk(size_t count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t needed = count + sizeof(struct shelfmark_chunk) + alignment;
  if (needed < count) return NULL;
  if (needed < usual_chunk) needed = usual_chunk;
  needed = (needed + page - 1) / page * page;
  void *memory = mmap(NULL, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
#ifdef MADV_DONTDUMP
  madvise(memory, needed, MADV_DONTDUMP);
#endif
  mlock(memory, needed);
  struct shelfmark_chunk *chunk = memory;
  chunk->count = needed;
  chunk->before = NULL;
  return chunk;
}

/// The system clears pages before it gives them to anybody else.
static void unmap_chunk(struct shelfmark_chunk *chunk) { munmap(chunk, chunk->count); }

static uint8_t *first_byte(struct shelfmark_chunk *chunk) {
  uintptr_t start = (uintptr_t)chunk + sizeof *chunk;
  return (uint8_t *)((start + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

static uint8_t *end_of(struct shelfmark_chunk *chunk) { return (uint8_t *)chunk + chunk->count; }

// MARK: Scratch

_Thread_local shelfmark_scratch_state shelfmark_scratch;
/// A chunk that a scope has left, for the next one that needs one.
static _Thread_local struct shelfmark_chunk *spare;

static pthread_key_t cleaner;
static pthread_once_t cleaner_once = PTHREAD_ONCE_INIT;

static void clean(void *unused) {
  (void)unused;
  while (shelfmark_scratch.chunk) {
    struct shelfmark_chunk *chunk = shelfmark_scratch.chunk;
    shelfmark_scratch.chunk = chunk->before;
    unmap_chunk(chunk);
  }
  if (spare) unmap_chunk(spare);
  spare = NULL;
  shelfmark_scratch = (shelfmark_scratch_state){0};
}

static void make_cleaner(void) { pthread_key_create(&cleaner, clean); }

void *shelfmark_scratch_take_chunk(size_t count) {
  pthread_once(&cleaner_once, make_cleaner);
  struct shelfmark_chunk *chunk = spare;
  if (chunk && (size_t)(end_of(chunk) - first_byte(chunk)) >= count) {
    spare = NULL;
  } else {
    chunk = map_chunk(count);
    if (!chunk) return NULL;
    // Any value but null makes the system call the cleaner when the thread ends.
    pthread_setspecific(cleaner, &cleaner);
  }
  chunk->before = shelfmark_scratch.chunk;
  shelfmark_scratch.chunk = chunk;
  shelfmark_scratch.next = first_byte(chunk) + count;
  shelfmark_scratch.end = end_of(chunk);
  return first_byte(chunk);
}

void shelfmark_scratch_release_chunks(shelfmark_scratch_state mark) {
  while (shelfmark_scratch.chunk != mark.chunk) {
    struct shelfmark_chunk *chunk = shelfmark_scratch.chunk;
    shelfmark_scratch.chunk = chunk->before;
    if (!spare && chunk->count == usual_chunk) {
      spare = chunk;
    } else {
      unmap_chunk(chunk);
    }
  }
  shelfmark_scratch = mark;
}

// MARK: Arenas

struct shelfmark_arena {
  struct shelfmark_chunk *chunk;
  uint8_t *next, *end;
};

shelfmark_arena *shelfmark_arena_new(void) { return calloc(1, sizeof(shelfmark_arena)); }

void shelfmark_arena_free(shelfmark_arena *arena) {
  while (arena->chunk) {
    struct shelfmark_chunk *chunk = arena->chunk;
    arena->chunk = chunk->before;
    unmap_chunk(chunk);
  }
  free(arena);
}

void *shelfmark_arena_take(shelfmark_arena *arena, size_t count) {
  size_t rounded = (count + alignment - 1) & ~(size_t)(alignment - 1);
  if (rounded < count) return NULL;
  if ((size_t)(arena->end - arena->next) < rounded) {
    struct shelfmark_chunk *chunk = map_chunk(rounded);
    if (!chunk) return NULL;
    chunk->before = arena->chunk;
    arena->chunk = chunk;
    arena->next = first_byte(chunk);
    arena->end = end_of(chunk);
  }
  void *taken = arena->next;
  arena->next += rounded;
  return taken;
}

// MARK: Texts

enum { text_slots = 8192, text_probes = 8, text_limit = 1024 * 1024 };

struct shelfmark_texts {
  /// Each is null or an opened object, which is never changed.
  _Atomic(const uint8_t *) slots[text_slots];
  pthread_mutex_t lock;
  shelfmark_arena *arena;
  size_t taken;
};

shelfmark_texts *shelfmark_texts_new(void) {
  shelfmark_texts *texts = calloc(1, sizeof *texts);
  if (!texts) return NULL;
  texts->arena = shelfmark_arena_new();
  if (!texts->arena || pthread_mutex_init(&texts->lock, NULL) != 0) {
    free(texts->arena);
    free(texts);
    return NULL;
  }
  return texts;
}

void shelfmark_texts_free(shelfmark_texts *texts) {
  shelfmark_arena_free(texts->arena);
  pthread_mutex_destroy(&texts->lock);
  free(texts);
}

static size_t first_slot(uint32_t unit) { return unit * 2654435761u >> 19; }

static uint32_t unit_of(const uint8_t *opened) {
  return opened[0] | (uint32_t)opened[1] << 8 | (uint32_t)opened[2] << 16 | (uint32_t)opened[3] << 24;
}

const uint8_t *shelfmark_texts_find(const shelfmark_texts *texts, uint32_t unit) {
  size_t first = first_slot(unit);
  for (size_t probe = 0; probe < text_probes; probe++) {
    const uint8_t *opened = atomic_load_explicit(&texts->slots[(first + probe) % text_slots], memory_order_acquire);
    if (!opened) return NULL;
    if (unit_of(opened) == unit) return opened;
  }
  return NULL;
}

const uint8_t *shelfmark_texts_insert(shelfmark_texts *texts, const uint8_t *opened, size_t count) {
  if (count > text_limit / 64) return NULL;
  uint32_t unit = unit_of(opened);
  size_t first = first_slot(unit);
  const uint8_t *kept = NULL;
  pthread_mutex_lock(&texts->lock);
  for (size_t probe = 0; probe < text_probes; probe++) {
    _Atomic(const uint8_t *) *slot = &texts->slots[(first + probe) % text_slots];
    const uint8_t *found = atomic_load_explicit(slot, memory_order_relaxed);
    if (found && unit_of(found) != unit) continue;
    if (found) {
      kept = found;
    } else if (texts->taken + count <= text_limit) {
      uint8_t *copy = shelfmark_arena_take(texts->arena, count);
      if (copy) {
        memcpy(copy, opened, count);
        texts->taken += count;
        atomic_store_explicit(slot, copy, memory_order_release);
        kept = copy;
      }
    }
    break;
  }
  pthread_mutex_unlock(&texts->lock);
  return kept;
}
