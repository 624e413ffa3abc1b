import Storage

/// Which store is meant: a directory and the name that its files begin with.
///
/// Invariant: `name`, and each file's name that begins with it, is one component of a path.
public struct StoreLocation: Sendable {
  /// Bytes of the longest name; the file systems that we know take 255 for a file's.
  public static let maximumNameByteCount = 200

  package let directory: any StorageDirectory
  package let name: String
  package let environment: StoreEnvironment

  package init(
    _ directory: any StorageDirectory, name: String, environment: StoreEnvironment = .system
  ) {
    Self.check(name)
    self.directory = directory
    self.name = name
    self.environment = environment
    log = name + ".log"
  }

  /// The store `name` in the directory at `path`, which is made, mode 0700, together with missing parents.
  ///
  /// - Parameters:
  ///   - path: of the directory.
  ///   - name: what the store's files begin with: up to ``maximumNameByteCount`` bytes, without a slash or a zero,
  ///     and neither empty nor `.` nor `..`. Anything else is the caller's mistake.
  /// - Throws: `StoreError.io`.
  public static func creating(_ path: String, name: String) throws(StoreError) -> StoreLocation {
    check(name)
    let directory = try storage { () throws(StorageError) in try PosixDirectory.create(path) }
    return StoreLocation(directory, name: name)
  }

  /// The store `name` in the directory at `path`; `nil` if there is no such directory. Creates nothing.
  ///
  /// - Parameters:
  ///   - path: of the directory.
  ///   - name: as for ``creating(_:name:)``.
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

  /// The log.
  let log: String
  /// Where the log is, for messages.
  public var path: String { directory.path + "/" + log }
  /// Carries the writer's lock.
  var lock: String { name + ".lock" }
  /// A generation that is being written.
  var new: String { name + ".new" }
  /// What a tail log shares with other stores.
  var base: String { name + ".base" }
  /// Bytes that arrive before the store is locked; see ``SpillFile``.
  func spill(_ number: UInt64) -> String { spillPrefix + String(number, radix: 16) }
  var spillPrefix: String { name + ".spill-" }
  /// The generation before the last full update.
  var previous: String { name + Self.previousSuffix }
  static let previousSuffix = ".previous"
  /// A log that was found damaged when it was repaired.
  func damaged(_ number: Int) -> String { damagedPrefix + "\(number)" }
  var damagedPrefix: String { name + ".damaged-" }
}
