"""Times lookups in SQLite and SQLCipher; see scripts/sqlcipher-times, which calls this with the folder of the stores."""
import glob
import json
import os
import random
import statistics
import sys
import time

import sqlcipher3.dbapi2 as database

KEY = "PRAGMA key = \"x'" + "07" * 32 + "'\""
QUERY = "SELECT name, weight, groupNum FROM products WHERE barcode = ?"
LOOKUPS = 20_000
ROUNDS = 5


def copy(clear, encrypted):
    """Writes an encrypted copy of a database, with the library's settings."""
    connection = database.connect(clear)
    connection.execute(f"ATTACH '{encrypted}' AS copy KEY \"x'{'07' * 32}'\"")
    connection.execute("SELECT sqlcipher_export('copy')")
    connection.execute("DETACH copy")
    connection.close()


def connect(path, is_encrypted, cache):
    """Opens a database with a cache of so many KiB, or with the usual one."""
    connection = database.connect(path)
    if is_encrypted:
        connection.execute(KEY)
    elif cache:
        connection.execute("PRAGMA mmap_size=2147418112")
    if cache:
        connection.execute(f"PRAGMA cache_size=-{cache}")
    return connection


def lookups(connection, keys):
    """Returns the microseconds of processor time that one lookup takes."""
    begin = time.thread_time_ns()
    for key in keys:
        for _ in connection.execute(QUERY, key):
            pass
    return (time.thread_time_ns() - begin) / len(keys) / 1000


def median_of(report, peer, measure):
    """Returns a figure of `compare`, in microseconds."""
    for run in report["runs"]:
        for figure in run["figures"]:
            if figure["peer"] == peer and figure["measure"] == measure:
                return statistics.median(figure["values"]) / 1000
    sys.exit(f"sqlcipher-times: compare.json has no {measure} of {peer}")


def main(folder):
    with open(os.path.join(folder, "results", "compare.json")) as file:
        report = json.load(file)
    ours = median_of(report, "Shelfmark, sealed", "hit")
    in_c = median_of(report, "SQLite", "hit")
    [clear] = [path for path in glob.glob(f"{folder}/sqlite-*/*") if path.endswith(("sqlite", ".db", ".sqlite3"))]
    encrypted = os.path.join(folder, "sqlcipher.db")
    if os.path.exists(encrypted):
        os.remove(encrypted)
    copy(clear, encrypted)
    source = database.connect(clear)
    keys = source.execute("SELECT barcode FROM products WHERE barcode <> '' ORDER BY random() LIMIT 100000").fetchall()
    version = source.execute("PRAGMA cipher_version").fetchone()[0]
    source.close()
    everything = 4 * (os.path.getsize(clear) // 1024)
    kinds = {
        "SQLite": connect(clear, False, everything),
        "SQLCipher, its usual cache": connect(encrypted, True, 0),
        "SQLCipher, everything cached": connect(encrypted, True, everything),
    }
    for name, connection in kinds.items():
        if name != "SQLCipher, its usual cache":
            connection.execute("SELECT sum(length(name)), sum(groupNum) FROM products").fetchone()
            lookups(connection, keys)
    times = {name: [] for name in kinds}
    for _ in range(ROUNDS):
        for name, connection in kinds.items():
            times[name].append(lookups(connection, random.choices(keys, k=LOOKUPS)))
    python = statistics.median(times["SQLite"]) - in_c
    print(f"SQLCipher {version}, SQLite {database.sqlite_version}; Python takes {python:.2f} µs of each lookup there")
    print(f"{'':30} {'in Python':>10} {'without':>10} {'of ours':>8}")
    print(f"{'Shelfmark, sealed':30} {'':10} {ours:7.2f} µs {'1':>8}")
    for name, values in times.items():
        value = statistics.median(values) - python
        print(f"{name:30} {statistics.median(values):7.2f} µs {value:7.2f} µs {value / ours:8.1f}")


main(sys.argv[1])
