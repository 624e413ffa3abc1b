import Storage

/// Which store is meant: a directory and the name that its files begin with.
public struct StoreLocation: Sendable {
  package let directory: any StorageDirectory
  package let name: String
  package let environment: StoreEnvironment

  package init(
    _ directory: any StorageDirectory, name: String, environment: StoreEnvironment = .system
  ) {
    self.directory = directory
    self.name = name
    self.environment = environment
  }

  /// The store `name` in the directory at `path`, which is made, mode 0700, together with missing parents.
  ///
  /// - Throws: `StoreError.io`.
  public static func creating(_ path: String, name: String) throws(StoreError) -> StoreLocation {
    let directory = try storage { () throws(StorageError) in try PosixDirectory.create(path) }
    return StoreLocation(directory, name: name)
  }

  /// The store `name` in the directory at `path`; `nil` if there is no such directory. Creates nothing.
  ///
  /// - Throws: `StoreError.io`.
  public static func existing(_ path: String, name: String) throws(StoreError) -> StoreLocation? {
    let directory = try storage { () throws(StorageError) in try PosixDirectory.open(path) }
    return directory.map { StoreLocation($0, name: name) }
  }

  /// The log.
  var log: String { name + ".log" }
  /// Carries the writer's lock.
  var lock: String { name + ".lock" }
  /// A generation that is being written.
  var new: String { name + ".new" }
  /// The generation before the last full update.
  var previous: String { name + ".previous" }
  /// A log that was found damaged when it was repaired.
  func damaged(_ number: Int) -> String { name + ".damaged-\(number)" }
}
