"""Searches names with tantivy; see scripts/tantivy-peer, which calls this."""
import os
import sys
import time

import tantivy

RESULTS = 20


def schema():
    """Returns a schema of one text, which is stored, as the other stores have it."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("name", stored=True)
    return builder.build()


def build(names, folder):
    """Makes an index of the lines of a file, in one segment, and prints its size in bytes."""
    os.makedirs(folder)
    index = tantivy.Index(schema(), path=folder)
    writer = index.writer(heap_size=1 << 30, num_threads=1)
    with open(names, encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            writer.add_document(tantivy.Document(name=line.rstrip("\n")))
    writer.commit()
    writer.wait_merging_threads()
    print(sum(entry.stat().st_size for entry in os.scandir(folder)))


def conjunction(index, words):
    """Returns the query for all words, each as the tokenizer of the field has it."""
    return index.parse_query(" ".join(f'+"{word}"' for word in words), ["name"])


def percentile(times, percent):
    """Returns a percentile of sorted figures, by nearest rank."""
    return times[min(len(times) - 1, max(0, -(-percent * len(times) // 100) - 1))]


def spread(times):
    times.sort()
    return f"{percentile(times, 50) / 1000:.2f}, {percentile(times, 99) / 1000:.2f}"


def search(folder, queries):
    """Prints medians and 99th percentiles in µs, each on a line: of the search and of reading the names that it found; of
    the search alone; and of a search for a word that no name has, which is what the calls from Python cost."""
    index = tantivy.Index.open(folder)
    searcher = index.searcher()
    with open(queries, encoding="utf-8", newline="\n") as lines:
        words = [line.split() for line in lines]
    # Parsing is not timed: a program can make queries without a text.
    parsed = [conjunction(index, query) for query in words]
    whole, alone, empty = [], [], []
    nothing = conjunction(index, ["nosuchwordatall"])
    searcher.search(parsed[0], RESULTS, count=False)
    for query in parsed:
        start = time.perf_counter_ns()
        hits = searcher.search(query, RESULTS, count=False).hits
        found = time.perf_counter_ns()
        for _, address in hits:
            searcher.doc(address)
        end = time.perf_counter_ns()
        alone.append(found - start)
        whole.append(end - start)
        start = time.perf_counter_ns()
        searcher.search(nothing, RESULTS, count=False)
        empty.append(time.perf_counter_ns() - start)
    for times in (whole, alone, empty):
        print(spread(times))


if __name__ == "__main__":
    {"build": build, "search": search}[sys.argv[1]](*sys.argv[2:])
