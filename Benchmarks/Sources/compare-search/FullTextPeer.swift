import BenchmarkSupport

#if PEER_GRDB
import GRDB

/// The names of products in a table of SQLite's FTS5.
final class FullTextPeer {
  let title: String
  private let path: String
  private let queue: DatabaseQueue

  init(_ title: String, _ tokenizer: String, _ folder: WorkFolder, _ names: [String], _ copies: Int) throws {
    self.title = title
    path = "\(try folder.scratch(tokenizer))/names.sqlite"
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA mmap_size = 4000000000") }
    queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { db in
      try db.execute(sql: "CREATE VIRTUAL TABLE names USING fts5(name, tokenize = '\(tokenizer)')")
      let insert = try db.makeStatement(sql: "INSERT INTO names(rowid, name) VALUES (?, ?)")
      for copy in 0..<copies {
        for (index, name) in names.enumerated() {
          try insert.execute(arguments: [6_000_000_000 + copy * names.count + index, name])
        }
      }
      try db.execute(sql: "INSERT INTO names(names) VALUES ('optimize')")
    }
    try queue.vacuum()
  }

  var byteCount: Int { Files.size(path) }

  /// All words, each in quotes.
  private func expression(_ words: [String]) -> String {
    words.map { "\"\($0.split(separator: "\"").joined())\"" }.joined(separator: " AND ")
  }

  /// The number of the first twenty names that have all words, by FTS5's rank.
  func count(_ words: [String]) throws -> Int {
    try queue.read { db in
      let select = try db.cachedStatement(
        sql: "SELECT rowid, name FROM names WHERE names MATCH ? ORDER BY rank LIMIT 20")
      return try Row.fetchAll(select, arguments: [expression(words)]).count
    }
  }

  /// The ids of all names that have all words.
  func ids(_ words: [String]) throws -> [String] {
    try queue.read { db in
      try Int.fetchAll(db, sql: "SELECT rowid FROM names WHERE names MATCH ?", arguments: [expression(words)]).map(
        String.init)
    }
  }
}
#else
/// No full-text peer is in this build.
final class FullTextPeer {
  let title = ""
  let byteCount = 0
  func count(_ words: [String]) throws -> Int { 0 }
  func ids(_ words: [String]) throws -> [String] { [] }
}
#endif
