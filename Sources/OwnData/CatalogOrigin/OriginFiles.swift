package import CatalogSources
import Essentials
import Platform
import RowFiles
package import RowSources
import ServerAnswers

/// The files that an origin serves: NDJSON, plain or gzip, which is detected by the first bytes.
///
/// A file whose first line has `type` as its first key is a dump and may hold both kinds of row.
package struct OriginFiles: Sendable {
  /// The path of the file with the products, or of a dump with both kinds of row; with a ``decoding`` also of a folder,
  /// whose newest file counts.
  package var products: String
  /// The file of relations; `nil` if the catalogue has no relations, or if the first file is a dump that contains them.
  package var relations: String?
  /// How the file of products is read if it is a person's own file; `nil` for NDJSON in the protocol's form. The
  /// `updateTime` of such rows is data like any other, and no stamp.
  package var decoding: SourceDecoding?
  /// The database that is read in place of files; ``decoding`` then says what its columns mean.
  package var database: DatabaseQuery?
  /// How often all rows of a database are read, if otherwise only newer ones are.
  package var reconcileInterval: Duration = .seconds(3600)

  /// Creates a pair of paths. Nothing is opened.
  package init(products: String, relations: String? = nil, decoding: SourceDecoding? = nil) {
    self.products = products
    self.relations = relations
    self.decoding = decoding
  }

  /// Creates a description of the rows of a database. Nothing is opened.
  package init(_ database: DatabaseQuery, decoding: SourceDecoding, reconcileInterval: Duration = .seconds(3600)) {
    products = database.name
    self.decoding = decoding
    self.database = database
    self.reconcileInterval = reconcileInterval
  }

  /// The content of the files, and the number of fields that got their default value because of a wrong type.
  struct Content: Sendable {
    var rows = OriginRows()
    var defaultedCount = 0
    /// What was recognised in a person's own file.
    var reading: SourceDecoding.Reading?
    /// The greatest value of the column that shows newer rows of a database.
    var newest: String?
    /// The newer files of a folder that were refused, and why.
    var refused: [OriginError] = []
    /// When all rows were read.
    var completeAt = ContinuousClock.now
  }

  /// Reads both files, or the rows of a database. Memory: the rows, and one chunk.
  ///
  /// - Parameters:
  ///   - former: What was read before. If a column of the database shows newer rows, only these are read and put over the
  ///     former ones, until it is time to read all of them.
  ///   - goesBack: Whether to take an older file of a folder if the newest one is refused.
  func load(onto former: Content? = nil, goesBack: Bool = false) throws(OriginError) -> Content {
    var content = Content()
    if let decoding, let database {
      try Self.load(database, decoding, isDue(former) ? nil : former, into: &content)
      return content
    }
    if let decoding {
      let files = try ownFiles(decoding)
      for file in files {
        do {
          content.rows = OriginRows(usesUpdateTimes: false)
          content.reading = try Self.load(file.path, decoding, into: &content.rows)
          return content
        } catch {
          if !goesBack || file == files.last { throw error }
          content.refused.append(error)
        }
      }
      return content
    }
    try Self.load(products, as: .products, into: &content)
    if let relations { try Self.load(relations, as: .relations, into: &content) }
    return content
  }

  /// The person's own file, or those of the folder, the newest first.
  private func ownFiles(_ decoding: SourceDecoding) throws(OriginError) -> [DropFolder.File] {
    do {
      guard DropFolder.exists(products) else { return [try DropFolder.File(path: products)] }
      return try DropFolder(path: products, format: decoding.format).files()
    } catch { throw .fileUnreadable(path: error.path, reason: error.reason) }
  }

  /// Waits until the newest file of the folder has stood still for a second. The watcher does so for later ones.
  func waitUntilSettled() {
    guard let decoding, database == nil, DropFolder.exists(products) else { return }
    while let file = try? ownFiles(decoding).first, Date().timeIntervalSince1970 - Double(file.modified) / 1e9 < 1 {
      sleep(1)
      if (try? ownFiles(decoding).first) == file { return }
    }
  }

  private static func load(
    _ path: String, _ decoding: SourceDecoding, into rows: inout OriginRows
  ) throws(OriginError) -> SourceDecoding.Reading {
    do {
      let file = try SequentialFile(path)
      return try decoding.load(file, at: path, into: &rows)
    } catch let error as RowFileError {
      throw error.isAboutPacking ? .gzipDamaged(path: path, error) : .lineRefused(path: path, error)
    } catch let error as SourceError {
      throw .sourceRefused(path: path, reason: error.description)
    } catch {
      throw .fileUnreadable(path: path, reason: reason(error))
    }
  }

  /// Whether it is time to read all rows of a database.
  private func isDue(_ former: Content?) -> Bool {
    guard let former, former.newest != nil else { return true }
    return former.completeAt + reconcileInterval <= .now
  }

  private static func load(
    _ database: DatabaseQuery, _ decoding: SourceDecoding, _ former: Content?, into content: inout Content
  ) throws(OriginError) {
    var query = database
    content.rows = OriginRows(usesUpdateTimes: false)
    if let former {
      content.rows = former.rows
      // All relations are read each time.
      content.rows.removeRelations()
      content.completeAt = former.completeAt
      query.lastSeen = former.newest
    }
    do {
      let (reading, newest) = try decoding.load(query, into: &content.rows)
      content.reading = reading
      content.newest = newest ?? former?.newest
    } catch let error as RowFileError {
      throw .lineRefused(path: database.name, error)
    } catch let error as DatabaseError {
      throw .databaseFailed(name: database.name, error)
    } catch {
      throw .fileUnreadable(path: database.name, reason: reason(error))
    }
  }

  private static func load(
    _ path: String, as kind: RowLines.Kind, into content: inout Content
  ) throws(OriginError) {
    do {
      let file = try SequentialFile(path)
      var text = TextReader(file: file)
      guard let first = try text.next() else { return }
      var lines = RowLines(kind: isDump(first) ? .tagged : kind)
      try lines.consume(first.span, into: &content.rows)
      while let chunk = try text.next() { try lines.consume(chunk.span, into: &content.rows) }
      content.defaultedCount += try lines.finish(into: &content.rows).defaulted.total
    } catch let error as RowFileError {
      throw error.isAboutPacking ? .gzipDamaged(path: path, error) : .lineRefused(path: path, error)
    } catch {
      throw .fileUnreadable(path: path, reason: reason(error))
    }
  }

  /// Whether the text begins with an object whose first key is `type`, which no row of the protocol has.
  static func isDump(_ text: [UInt8]) -> Bool {
    let marks = text.lazy.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return marks.starts(with: #"{"type":"#.utf8)
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? StorageError else { return "\(error)" }
    return switch error.code {
    case ENOENT: "no such file"
    case EACCES: "permission denied"
    case EISDIR: "it is a directory"
    default: error.reason
    }
  }

  /// A reader of the file's text chunk by chunk, decompressed if the file is gzip.
  private struct TextReader: ~Copyable {
    let file: SequentialFile
    private var unpacker = OptionalGzip()
    private var isOver = false

    init(file: SequentialFile) { self.file = file }

    mutating func next() throws -> [UInt8]? {
      while !isOver {
        let packed = try file.read(upTo: 256 << 10)
        isOver = packed.isEmpty
        let text = try isOver ? unpacker.finish() : unpacker.unpack(packed)
        if !text.isEmpty { return text }
      }
      return nil
    }
  }

  // MARK: Changes on disk

  /// A fingerprint that distinguishes two states of the files without reading them: the real path, inode, size and
  /// modification time of each; `nil` for a missing file.
  struct Signature: Sendable, Equatable {
    private var files: [DropFolder.File?]

    init(_ files: OriginFiles) {
      var products = files.products
      if let decoding = files.decoding, files.database == nil, DropFolder.exists(products) {
        products = (try? files.ownFiles(decoding).first?.path) ?? products
      }
      self.files = [products, files.relations].compactMap { $0 }.map { path in
        try? DropFolder.File(path: URL(filePath: path).resolvingSymlinksInPath().path)
      }
    }
  }
}

extension RowFileError {
  /// Whether the compressed file as such is damaged, and not one of its lines.
  fileprivate var isAboutPacking: Bool {
    if case .notUnpacked = self { true } else { false }
  }
}
