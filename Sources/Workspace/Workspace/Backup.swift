import DocumentFormat
package import Platform
import Storage

/// Whose stores a backup or a restoration is about.
package enum BackupScope: Sendable, Equatable {
  /// The stores of one user.
  case user(String)
  /// The stores of all users, and those that belong to nobody.
  case all

  /// The user; `nil` for everybody.
  package var user: String? { if case .user(let id) = self { id } else { nil } }
}

/// The list of a backup: what it contains, when and by which program it was made.
///
/// It is the file `backup.json` of the backup's directory, written and synced after all others.
package struct Backup: Sendable, Codable, Equatable {
  static let listName = "backup.json"
  /// The name of the list until the backup is complete. A backup that was interrupted has it.
  static let unfinishedName = "backup.json.new"
  /// The version of the list that this program writes. It refuses a higher one.
  static let currentFormat = 1

  /// A copy of a store.
  package struct File: Sendable, Codable, Equatable {
    /// The ID of the store's user; `nil` for a store that belongs to nobody.
    package let user: String?
    /// The name of the store, for example `documents`.
    package let store: String
    /// The size of the file in bytes.
    package let bytes: Int
    /// The checksum (CRC-32C) over all of its bytes.
    package let crc32c: Int
    /// The number of the commit up to which the store was copied.
    package let sequence: Int

    /// The path of the file, relative to the backup.
    package var path: String { Backup.path(store, of: user) }
  }

  var format = Backup.currentFormat
  /// The name and version of the program that made the backup.
  package let program: String
  /// The time at which it was finished, in UTC.
  package let created: String
  /// The user whose stores it has; `nil` for a whole root.
  package let user: String?
  package let files: [File]

  /// The sum of the sizes of all files.
  package var byteCount: Int { files.reduce(0) { $0 + $1.bytes } }

  init(program: String, created: String, user: String?, files: [File]) {
    self.program = program
    self.created = created
    self.user = user
    self.files = files
  }

  /// The path of a store's log, relative to the root.
  static func path(_ store: String, of user: String?) -> String {
    (user.map { ["users"] + UserDirectory.path(of: $0) } ?? ["default"]).joined(separator: "/") + "/\(store).log"
  }

  /// Creates the list, without contents, under the name that says that the backup is not complete.
  static func begin(in directory: PosixDirectory) throws {
    _ = try directory.open(unfinishedName, .create)
    try directory.sync()
  }

  /// Writes the list, durably: from then on the backup is complete.
  func write(to directory: PosixDirectory) throws {
    let value = try DocumentDecoder().decode(DocumentValue.self, from: DocumentEncoder().encode(self))
    guard let file = try directory.open(Self.unfinishedName, .create) else {
      throw StorageError(operation: "create", path: directory.path + "/" + Self.unfinishedName, code: ENOENT)
    }
    try file.write(value.jsonBytes + [UInt8(ascii: "\n")], at: 0)
    try file.sync()
    try directory.rename(Self.unfinishedName, to: Self.listName)
    try directory.sync()
  }

  /// Reads the list of the backup at `path`.
  ///
  /// - Throws: ``BackupError/notABackup(path:)``, `.incomplete`, `.damaged`, `.newer`; `StorageError`.
  static func read(at path: String) throws -> Backup {
    guard let directory = try PosixDirectory.open(path) else { throw BackupError.notABackup(path: path) }
    let list = path + "/" + listName
    func damaged(_ what: String) -> BackupError { .damaged(path: list, what: what) }
    if try directory.identity(of: listName) == nil {
      throw try directory.names().contains(unfinishedName)
        ? BackupError.incomplete(path: path) : BackupError.notABackup(path: path)
    }
    guard try directory.byteCount(of: listName) != nil, let file = try directory.open(listName, .read) else {
      throw damaged("it is no regular file")
    }
    let bytes = try file.read(file.size(), at: 0)
    let backup: Backup
    do {
      let value = try DocumentValue(json: String(decoding: bytes, as: UTF8.self))
      guard case .integer(let format)? = value["format"], format >= 1 else {
        throw damaged("its format is no whole number from 1 on")
      }
      if format > currentFormat { throw BackupError.newer(path: list) }
      backup = try DocumentDecoder().decode(Backup.self, from: DocumentEncoder().encode(value))
    } catch let error as BackupError { throw error } catch { throw damaged("it is no list of a backup") }
    var paths: Set<[UInt8]> = []
    for file in backup.files where !paths.insert(Array(file.path.utf8)).inserted {
      throw damaged("it lists \(file.path) twice")
    }
    return backup
  }
}

/// Why a backup was not made or not restored. Nothing was changed, except where a case says so.
package enum BackupError: Error, Sendable, Equatable {
  /// The directory for the backup has something in it.
  case notEmpty(path: String, isInterrupted: Bool)
  /// The directory for the backup is the root, or lies in it.
  case insideRoot(path: String, root: String)
  /// There is nothing to copy. `others` are the users that have stores.
  case noStores(root: String, user: String?, others: [String])
  /// A store that was to be copied is damaged.
  case damagedStore(path: String, what: String)
  /// There is no backup at the path.
  case notABackup(path: String)
  /// The backup has no list of its files: it was interrupted.
  case incomplete(path: String)
  /// A file of the backup is missing or not what was written.
  case damaged(path: String, what: String)
  /// A newer program made the backup.
  case newer(path: String)
  /// The backup has no stores of the user, or with `nil` none at all.
  case noSuchUser(path: String, user: String?, others: [String])
  /// A store that was to be restored exists.
  case exists(path: String, count: Int)
  /// The stores of the backup are sealed with another data key than those that are there, or those are in clear.
  case otherKeys(path: String, user: String?)
  /// The file system has less space than the restoration of a store needs. The stores `restored` were replaced before.
  case noRoom(path: String, needed: Int, available: Int, restored: [String])
}

extension BackupError: CustomStringConvertible {
  /// What is wrong with which file, and what to do, for people.
  package var description: String {
    switch self {
    case .notEmpty(let path, let isInterrupted):
      isInterrupted
        ? "\(path) has a backup that was interrupted: remove it, or name another directory; nothing was written"
        : "\(path) is not empty: name a new or an empty directory; nothing was written"
    case .insideRoot(let path, let root):
      "\(path) lies in \(root), whose stores are to be copied: name a directory outside of it, best on another disk;"
        + " nothing was written"
    case .noStores(let root, let user, let others):
      "there are no stores\(user.map { " of \($0)" } ?? "") in \(root), so no backup was made"
        + (others.isEmpty ? "" : "; there are those of \(Self.list(others))")
    case .damagedStore(let path, let what):
      "\(path) is damaged (\(what)), so no backup was made: 'catalogctl verify --repair' saves what can be saved"
    case .notABackup(let path):
      "\(path) is no backup: it has no \(Backup.listName); name the directory that 'catalogctl backup' was given"
    case .incomplete(let path):
      "\(path) is incomplete: it has no \(Backup.listName), which is written last, so the backup was interrupted; use"
        + " another one; nothing was changed"
    case .damaged(let path, let what):
      "the backup is damaged: \(path): \(what); use another one; nothing was changed"
    case .newer(let path):
      "\(path) was written by a newer Shelfmark: install it to restore this backup; nothing was changed"
    case .noSuchUser(let path, let user, let others):
      "\(path) has no stores\(user.map { " of \($0)" } ?? "")"
        + (others.isEmpty ? "" : "; it has those of \(Self.list(others))") + "; nothing was changed"
    case .exists(let path, let count):
      "\(path) exists\(count > 1 ? ", and \(count - 1) more of these stores" : ""); --force replaces stores by those of"
        + " the backup; nothing was changed"
    case .otherKeys(let path, let user):
      "\(path) has sealed stores\(user.map { " of \($0)" } ?? ""), and what is here is not sealed with the same data key:"
        + " remove it first, for a user with 'catalogctl users remove', or restore into another root; nothing was changed"
    case .noRoom(let path, let needed, let available, let restored):
      "\(path) needs up to \(needed) bytes for a copy of what is live next to it, and \(available) are free; free some"
        + " space and try again, "
        + (restored.isEmpty ? "nothing was changed" : "with --force: this store stayed as it was, others were replaced")
    }
  }

  /// The first users of a list, for people.
  private static func list(_ users: [String]) -> String {
    users.sorted().prefix(5).joined(separator: ", ") + (users.count > 5 ? " and \(users.count - 5) more" : "")
  }
}

extension BackupError: ProgramError {
  package var exitStatus: ExitStatus {
    switch self {
    case .notEmpty, .insideRoot, .exists, .otherKeys: .cannotCreate
    case .damagedStore, .incomplete, .damaged, .newer: .data
    case .notABackup, .noSuchUser, .noStores: .noInput
    case .noRoom: .io
    }
  }

  package var refusal: Refusal { .unavailable("storeUnavailable") }
}
