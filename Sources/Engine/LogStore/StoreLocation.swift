import Bytes
import Platform
import RecordFormat
package import Sealing
package import Storage

/// The location of a store: a directory and the common prefix of its file names.
///
/// Invariant: `name`, and each file name that begins with it, is a single path component.
public struct StoreLocation: Sendable {
  /// The maximum length of a name in bytes. The supported file systems allow 255 for a file name.
  public static let maximumNameByteCount = 200

  package let directory: any StorageDirectory
  package let name: String
  package let environment: StoreEnvironment
  /// The keys with which sealed logs are opened.
  package var keys = LogKeys.none
  /// Called after each commit, once it is durable, by the writer that holds the lock.
  package var committed: (@Sendable (DurableCommit) -> Void)?
  /// Whether a store that has no log yet is created sealed.
  package var sealsNew: Bool {
    get { keys.sealsNew }
    set { keys.sealsNew = newValue }
  }
  /// Whether a store that has no log yet is created sealed, asked now.
  var sealsNewNow: Bool { keys.now.sealsNew }

  package init(
    _ directory: any StorageDirectory, name: String, environment: StoreEnvironment = .system
  ) {
    Self.check(name)
    self.directory = directory
    self.name = name
    self.environment = environment
    log = name + ".log"
  }

  /// Returns the store `name` in the directory at `path`. The directory is created with mode 0700, together with
  /// missing parents.
  ///
  /// - Parameters:
  ///   - path: The path of the directory.
  ///   - name: The prefix of the store's file names: 1 to ``maximumNameByteCount`` bytes, without a slash or a zero
  ///     byte, and neither `.` nor `..`. Any other name is a programmer's error.
  /// - Throws: `StoreError.io`.
  public static func creating(_ path: String, name: String) throws(StoreError) -> StoreLocation {
    check(name)
    let directory = try storage { () throws(StorageError) in try PosixDirectory.create(path) }
    return StoreLocation(directory, name: name)
  }

  /// Returns the store `name` in the directory at `path`; `nil` if there is no such directory. Nothing is created.
  ///
  /// - Parameters:
  ///   - path: The path of the directory.
  ///   - name: The prefix of the store's file names, as for ``creating(_:name:)``.
  /// - Throws: `StoreError.io`.
  public static func existing(_ path: String, name: String) throws(StoreError) -> StoreLocation? {
    check(name)
    let directory = try storage { () throws(StorageError) in try PosixDirectory.open(path) }
    return directory.map { StoreLocation($0, name: name) }
  }

  private static func check(_ name: String) {
    precondition(
      PosixDirectory.isName(name) && name.utf8.count <= maximumNameByteCount,
      "a store's name has 1 to 200 bytes, no slash and no zero, and is neither . nor ..")
  }

  /// Returns the same location, whose sealed logs are opened with `key`. A clear log ignores it.
  ///
  /// - Parameter sealsNew: Whether a store that has no log yet is created sealed.
  package func opening(with key: DataKey?, sealsNew: Bool) -> StoreLocation {
    var location = self
    location.keys = LogKeys(key)
    location.sealsNew = sealsNew
    return location
  }

  /// Returns another store of the same directory, which is opened with the same keys and sealed as this one is.
  ///
  /// - Parameter name: The prefix of its file names, as for ``creating(_:name:)``.
  package func sibling(_ name: String) -> StoreLocation {
    var other = StoreLocation(directory, name: name, environment: environment)
    (other.keys, other.sealsNew) = (keys, sealsNew)
    return other
  }

  /// Returns whether the store's log is sealed, which its header says without a key; `nil` without a log.
  ///
  /// - Throws: `StoreError.damaged` if the header cannot be read; `.unusable`, `.io`.
  package func isSealed() throws(StoreError) -> Bool? {
    let file = try storage { () throws(StorageError) in try directory.open(log, .read) }
    guard let file else { return nil }
    return try LogFile(file, keys: .structureOnly).header.sealing != nil
  }

  /// The file name of the log.
  let log: String
  /// The path of the log, for messages.
  public var path: String { directory.path + "/" + log }
  /// The file name of the writer's lock.
  var lock: String { name + ".lock" }
  /// The file name of a generation that is being written.
  var new: String { name + ".new" }
  /// The file name of the base that a tail log shares with other stores.
  var base: String { name + ".base" }
  /// Returns the file name of a temporary file; see ``SpillFile``.
  func spill(_ number: UInt64) -> String { spillPrefix + String(number, radix: 16) }
  var spillPrefix: String { name + ".spill-" }
  /// The file name of the generation before the last full update.
  var previous: String { name + Self.previousSuffix }
  static let previousSuffix = ".previous"
  /// Returns a file name for a log that a repair found damaged.
  func damaged(_ number: Int) -> String { damagedPrefix + "\(number)" }
  var damagedPrefix: String { name + ".damaged-" }
}

/// A commit that is durable.
package struct DurableCommit: Sendable {
  package enum Kind: Sendable {
    /// The rows of a transaction were added to the log.
    case rows
    /// The rows of the commit before were copied into a new generation.
    case copy
    /// All rows are new: of a full update, a restored backup, or what a repair has saved.
    case everything
  }

  package let kind: Kind
  /// The id of the file, 16 bytes.
  package let storeID: [UInt8]
  package let generation: UInt64
  package let sequence: UInt64

  package init(_ kind: Kind, _ snapshot: Snapshot) {
    self.kind = kind
    var writer = ByteWriter()
    writer.put(snapshot.log.header.storeID.words.0)
    writer.put(snapshot.log.header.storeID.words.1)
    storeID = writer.bytes
    generation = snapshot.generation
    sequence = snapshot.sequence
  }
}
