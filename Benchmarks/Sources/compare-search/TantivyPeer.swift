import BenchmarkSupport

/// The names of products in an index of tantivy, which another process searches and times.
struct TantivyPeer {
  /// What the figures of ``cells(_:)`` are.
  static let titles = ["tantivy, from Python", "without reading the names", "a word that no name has"]

  private let program: String
  private let folder: WorkFolder
  private let index: String
  let byteCount: Int

  init(_ program: String, _ folder: WorkFolder, _ names: [String], _ copies: Int) throws {
    self.program = program
    self.folder = folder
    let scratch = try folder.scratch("tantivy")
    index = "\(scratch)/index"
    let file = "\(scratch)/names"
    var lines: [UInt8] = []
    for name in names {
      lines += name.utf8.map { $0 == 0x0A ? 0x20 : $0 }
      lines.append(0x0A)
    }
    do {
      let output = try OutputFile(creating: file)
      for _ in 0..<copies { try output.append(lines) }
    }
    byteCount = Int(try Self.lines(of: Subprocess.run([program, "build", file, index])).first ?? "") ?? 0
  }

  /// The median and the 99th percentile of searches in µs: with the names that were found, without reading these, and of
  /// a search for a word that no name has, in which a call from Python is nearly all.
  func cells(_ queries: [[String]]) throws -> [String] {
    let file = "\(try folder.scratch("tantivy-queries"))/queries"
    do {
      let output = try OutputFile(creating: file)
      try output.append(queries.flatMap { Array($0.joined(separator: " ").utf8) + [0x0A] })
    }
    return try Self.lines(of: Subprocess.run([program, "search", index, file]))
  }

  private static func lines(of process: Subprocess) throws -> [String] {
    String(decoding: process.output, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
