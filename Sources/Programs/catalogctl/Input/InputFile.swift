import Essentials
import LogStore
import Platform
import RowSources

/// A file, standard input for `-`, or the rows of a database, read piece by piece.
struct InputFile {
  /// The name for messages.
  let name: String
  /// `nil` for a database.
  private let file: SequentialFile?
  /// The rows of a database, which are read instead of a file.
  private var database: DatabaseInput?
  /// The contents of a pipe, after it was read to its end.
  private var spool: Spool?

  /// A file with the contents of a pipe, and the read position.
  private final class Spool {
    let file: SpillFile
    var offset = 0

    init(_ file: SpillFile) { self.file = file }
  }

  /// - Throws: `Failure` with exit code 66.
  init(_ path: String) throws {
    if path == "-" {
      name = "standard input"
      file = .standardInput
      if ClosedStreams.isInputClosed { throw Failure(.noInput, "standard input is closed; give it a file or a pipe") }
      return
    }
    name = path
    do { file = try SequentialFile(path) } catch {
      throw Failure(
        .noInput, "\(path): " + (error.code == ENOENT ? "no such file" : "cannot be opened: \(Self.reason(error.code))")
      )
    }
    if let type = status?.st_mode, type & S_IFMT == S_IFDIR {
      throw Failure(.noInput, "\(path): is a directory, not a file")
    }
  }

  /// - Throws: `DatabaseError`.
  init(_ query: DatabaseQuery) throws {
    name = query.name
    file = nil
    database = try DatabaseInput(query)
  }

  /// The next cursor of a database; `nil` if there is none.
  var newest: String? { database?.newest }

  /// Whether only rows of a database from the former cursor on are read.
  var hasNewerOnly: Bool { database?.hasNewerOnly ?? false }

  /// What a person should know about the column that shows newer rows.
  var notices: [String] { database?.notices ?? [] }

  private var descriptor: Int32 { file?.descriptor ?? 0 }

  /// The file's status; `nil` if the system returns none.
  private var status: stat? {
    if database != nil { return nil }
    var status = stat()
    // The call fills the local structure.
    return retrying { unsafe fstat(descriptor, &status) } == 0 ? status : nil
  }

  /// A description of an error number.
  private static func reason(_ code: Int32) -> String {
    // The text is valid until the next call on this thread.
    unsafe String(cString: strerror(code)) + (code == EACCES ? "; check who may read it" : "")
  }

  /// The file's type and permissions; `nil` if it is not a regular file.
  var mode: mode_t? { status.flatMap { $0.st_mode & S_IFMT == S_IFREG ? $0.st_mode : nil } }

  /// The size of the file in bytes; `nil` if it is unknown.
  var byteCount: Int? {
    if let spool { return spool.file.byteCount }
    guard let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// The same input without any waiting: a pipe is first read to its end, into a file next to a store. A slow pipe then
  /// does not block other writers of the store.
  ///
  /// - Throws: `Failure` with exit code 66; `StoreError.io` if the data cannot be stored.
  func arrived(nextTo location: StoreLocation) throws -> InputFile {
    if byteCount != nil { return self }
    let file = try SpillFile(nextTo: location)
    // A terminal's lines end; what another device sends need not.
    let isEndless = status.map { $0.st_mode & S_IFMT == S_IFCHR } ?? false && isatty(descriptor) == 0
    while let piece = try next() {
      if isEndless { throw Failure(.noInput, "\(name): is a device, not a file of rows; name a file or a pipe") }
      try file.append(piece.span)
    }
    database?.end()
    var arrived = self
    arrived.spool = Spool(file)
    return arrived
  }

  /// Moves back to the beginning. Only for a file, or a pipe that was read to its end.
  ///
  /// - Throws: `Failure` with exit code 66.
  func rewind() throws {
    if let spool {
      spool.offset = 0
    } else if lseek(descriptor, 0, SEEK_SET) < 0 {
      throw Failure(.noInput, "\(name): cannot be read twice: \(Self.reason(errno))")
    }
  }

  /// The next bytes; `nil` at the end.
  ///
  /// - Throws: `Failure` with exit code 66.
  func next() throws -> [UInt8]? {
    if let spool {
      let piece = try spool.file.read(at: spool.offset)
      spool.offset += piece.count
      return piece.isEmpty ? nil : piece
    }
    if let database { return try database.next() }
    do throws(StorageError) { return try file?.next() } catch {
      throw Failure(.noInput, "\(name): cannot be read: \(Self.reason(error.code))")
    }
  }

  /// Calls `body` with each line, without its line feed, as soon as it is complete. Bytes that are no UTF-8 become
  /// U+FFFD.
  func forEachLine(_ body: (String) throws -> Void) throws {
    try forEachLineOfBytes { try body(String(decoding: $0, as: UTF8.self)) }
  }

  /// Calls `body` with the bytes of each line, without its line feed, as soon as it is complete.
  func forEachLineOfBytes(_ body: ([UInt8]) throws -> Void) throws {
    var rest: [UInt8] = []
    while let piece = try next() {
      var start = piece.startIndex
      while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
        try body(rest + piece[start..<end])
        rest.removeAll(keepingCapacity: true)
        start = end + 1
      }
      rest += piece[start...]
    }
    if !rest.isEmpty { try body(rest) }
  }
}
