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

/// Chunks of the usual size that nobody uses, for the next arena: mapping and locking one costs as much as opening a log.
static struct shelfmark_chunk *spare_chunks;
static size_t spare_count;
enum { spare_limit = 4 };
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

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
    if (!chunk->before && chunk->count == usual_chunk) {
      // The first chunk of the thread stays, for the scopes that come.
      shelfmark_scratch.next = first_byte(chunk);
      shelfmark_scratch.end = end_of(chunk);
      shelfmark_scratch.depth = mark.depth;
      return;
    }
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

/// Keeps a chunk as a spare one, once its first bytes are wiped, or unmaps it.
static void retire_chunk(struct shelfmark_chunk *chunk, const uint8_t *used_end) {
  if (chunk->count == usual_chunk) {
    shelfmark_wipe(first_byte(chunk), (size_t)(used_end - first_byte(chunk)));
    pthread_mutex_lock(&spare_lock);
    if (spare_count < spare_limit) {
      chunk->before = spare_chunks;
      spare_chunks = chunk;
      spare_count++;
      chunk = NULL;
    }
    pthread_mutex_unlock(&spare_lock);
  }
  if (chunk) unmap_chunk(chunk);
}

/// A spare chunk; null if there is none, or if it is too small.
static struct shelfmark_chunk *take_spare(size_t count) {
  if (count > usual_chunk - sizeof(struct shelfmark_chunk) - alignment) return NULL;
  pthread_mutex_lock(&spare_lock);
  struct shelfmark_chunk *chunk = spare_chunks;
  if (chunk) {
    spare_chunks = chunk->before;
    spare_count--;
    chunk->before = NULL;
  }
  pthread_mutex_unlock(&spare_lock);
  return chunk;
}

void shelfmark_arena_free(shelfmark_arena *arena) {
  const uint8_t *used_end = arena->next;
  while (arena->chunk) {
    struct shelfmark_chunk *chunk = arena->chunk;
    arena->chunk = chunk->before;
    retire_chunk(chunk, used_end);
    // Of all but the last one, everything may have been used.
    if (arena->chunk) used_end = end_of(arena->chunk);
  }
  free(arena);
}

void *shelfmark_arena_take(shelfmark_arena *arena, size_t count) {
  size_t rounded = (count + alignment - 1) & ~(size_t)(alignment - 1);
  if (rounded < count) return NULL;
  if ((size_t)(arena->end - arena->next) < rounded) {
    struct shelfmark_chunk *chunk = take_spare(rounded);
    if (!chunk) chunk = map_chunk(rounded);
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

// MARK: Cells

/// Stands before each cell, in a line of its own.
struct cell {
  _Alignas(64) struct cell *next;
  size_t count;
};

static pthread_mutex_t cells_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cell *free_cells;
static uint8_t *cells_next, *cells_end;

void *shelfmark_cell_take(size_t count) {
  const size_t rounded = (count + 63) & ~(size_t)63, needed = sizeof(struct cell) + rounded;
  struct cell *taken = NULL;
  pthread_mutex_lock(&cells_lock);
  for (struct cell **place = &free_cells; *place; place = &(*place)->next) {
    if ((*place)->count != rounded) continue;
    taken = *place;
    *place = taken->next;
    break;
  }
  if (!taken) {
    if ((size_t)(cells_end - cells_next) < needed) {
      struct shelfmark_chunk *chunk = map_chunk(needed + 64);
      if (chunk) {
        cells_next = (uint8_t *)(((uintptr_t)first_byte(chunk) + 63) & ~(uintptr_t)63);
        cells_end = end_of(chunk);
      }
    }
    if ((size_t)(cells_end - cells_next) >= needed) {
      taken = (struct cell *)cells_next;
      taken->count = rounded;
      cells_next += needed;
    }
  }
  pthread_mutex_unlock(&cells_lock);
  return taken ? taken + 1 : NULL;
}

void shelfmark_cell_return(void *contents) {
  struct cell *cell = (struct cell *)contents - 1;
  pthread_mutex_lock(&cells_lock);
  cell->next = free_cells;
  free_cells = cell;
  pthread_mutex_unlock(&cells_lock);
}

// MARK: Texts

enum { first_slot_bits = 6, last_slot_bits = 13, text_probes = 8, text_limit = 1024 * 1024 };

/// Slots, each null or an opened object, which is never changed.
struct text_table {
  /// The table with half as many slots, in which somebody may still be searching.
  struct text_table *before;
  unsigned bits;
  size_t used;
  _Atomic(const uint8_t *) slots[];
};

struct shelfmark_texts {
  /// The largest table, which has all texts; null until there is one.
  _Atomic(struct text_table *) table;
  pthread_mutex_t lock;
  shelfmark_arena *arena;
  size_t taken;
};

shelfmark_texts *shelfmark_texts_new(void) {
  shelfmark_texts *texts = calloc(1, sizeof *texts);
  if (!texts) return NULL;
  if (pthread_mutex_init(&texts->lock, NULL) != 0) {
    free(texts);
    return NULL;
  }
  return texts;
}

void shelfmark_texts_free(shelfmark_texts *texts) {
  if (texts->arena) shelfmark_arena_free(texts->arena);
  struct text_table *table = atomic_load_explicit(&texts->table, memory_order_relaxed);
  while (table) {
    struct text_table *before = table->before;
    free(table);
    table = before;
  }
  pthread_mutex_destroy(&texts->lock);
  free(texts);
}

static uint32_t unit_of(const uint8_t *opened) {
  return opened[0] | (uint32_t)opened[1] << 8 | (uint32_t)opened[2] << 16 | (uint32_t)opened[3] << 24;
}

static _Atomic(const uint8_t *) *slot_of(struct text_table *table, uint32_t unit, size_t probe) {
  return &table->slots[((unit * 2654435761u >> (32 - table->bits)) + probe) & (((size_t)1 << table->bits) - 1)];
}

const uint8_t *shelfmark_texts_find(const shelfmark_texts *texts, uint32_t unit) {
  struct text_table *table = atomic_load_explicit(&texts->table, memory_order_acquire);
  for (size_t probe = 0; table && probe < text_probes; probe++) {
    const uint8_t *opened = atomic_load_explicit(slot_of(table, unit, probe), memory_order_acquire);
    if (!opened) return NULL;
    if (unit_of(opened) == unit) return opened;
  }
  return NULL;
}

/// A slot for the text at a unit offset; null if all of those where it may be are taken.
static _Atomic(const uint8_t *) *free_slot(struct text_table *table, uint32_t unit) {
  for (size_t probe = 0; probe < text_probes; probe++) {
    _Atomic(const uint8_t *) *slot = slot_of(table, unit, probe);
    if (!atomic_load_explicit(slot, memory_order_relaxed)) return slot;
  }
  return NULL;
}

static void fill(struct text_table *table, _Atomic(const uint8_t *) *slot, const uint8_t *opened) {
  atomic_store_explicit(slot, opened, memory_order_release);
  table->used++;
}

/// The table with room for another text; null if there is no memory for the first one. Called with the lock.
static struct text_table *table_to_fill(shelfmark_texts *texts) {
  struct text_table *table = atomic_load_explicit(&texts->table, memory_order_relaxed);
  if (table && (table->bits == last_slot_bits || table->used < (size_t)1 << (table->bits - 1))) return table;
  const unsigned bits = table ? table->bits + 1 : first_slot_bits;
  struct text_table *larger = calloc(1, sizeof *larger + ((size_t)1 << bits) * sizeof *larger->slots);
  if (!larger) return table;
  larger->bits = bits;
  larger->before = table;
  for (size_t index = 0; table && index < (size_t)1 << table->bits; index++) {
    const uint8_t *opened = atomic_load_explicit(&table->slots[index], memory_order_relaxed);
    // One that finds no slot is opened again when it is needed.
    _Atomic(const uint8_t *) *slot = opened ? free_slot(larger, unit_of(opened)) : NULL;
    if (slot) fill(larger, slot, opened);
  }
  atomic_store_explicit(&texts->table, larger, memory_order_release);
  return larger;
}

const uint8_t *shelfmark_texts_insert(shelfmark_texts *texts, const uint8_t *opened, size_t count) {
  if (count > text_limit / 64) return NULL;
  pthread_mutex_lock(&texts->lock);
  const uint8_t *kept = shelfmark_texts_find(texts, unit_of(opened));
  if (!kept && texts->taken + count <= text_limit) {
    if (!texts->arena) texts->arena = shelfmark_arena_new();
    struct text_table *table = table_to_fill(texts);
    _Atomic(const uint8_t *) *slot = table ? free_slot(table, unit_of(opened)) : NULL;
    uint8_t *copy = texts->arena && slot ? shelfmark_arena_take(texts->arena, count) : NULL;
    if (copy) {
      memcpy(copy, opened, count);
      texts->taken += count;
      fill(table, slot, copy);
      kept = copy;
    }
  }
  pthread_mutex_unlock(&texts->lock);
  return kept;
}
