public import Platform

/// An error of a store caused by its environment: files, devices, other processes. Mistakes of the caller are
/// preconditions instead.
public enum StoreError: Error, Sendable {
  // Errors when opening a store.

  /// The file is not a store, or a store that this program cannot read. Nothing was changed.
  case unusable(path: String, reason: String)
  /// A newer version of this package wrote the file, and this one does not know its form, or may only read it. The file
  /// is not damaged, and nothing was changed: install the newer version.
  case newer(path: String, reason: String)
  /// Another process holds the writer's lock. Try again, or open the store for reading. `holder` describes that process;
  /// `nil` if it is not known.
  case locked(path: String, holder: String? = nil)
  /// The tables or key spaces of the file differ from the program's schema.
  case schema(path: String, reason: String)
  /// The log is sealed, and no key was given, or another one than it was sealed with. Nothing was read.
  case sealed(path: String, isOtherKey: Bool)

  // Errors at any time.

  /// Acknowledged bytes fail their check. `offset` is the start of the damaged structure.
  case damaged(path: String, offset: Int, what: String)
  /// The device cannot read the bytes at `offset`.
  case unreadable(path: String, offset: Int)
  /// A system call failed.
  case io(StorageError)

  /// The store was closed to the caller, for example because its user signed out.
  case closed(path: String)

  // Errors when writing.

  /// The open file has lost its name: it was renamed, removed, or replaced by a file that is not a later state of it.
  /// Nothing was written to it. Open the store again.
  case replaced(path: String)
  /// An earlier write or sync failed, and this writer accepts no more writes. Reopen the store to recover the last
  /// commit.
  case poisoned(path: String, reason: String)
  /// The log would exceed the largest offset. Compact it or split the data.
  case full(path: String, limit: Int)
  /// The file system has less space than a compaction, or a rollback across a full update, needs. Nothing was written.
  case noRoom(path: String, needed: Int, available: Int)
  /// A key, record or shared string is longer than the format allows.
  case tooLarge(what: String, byteCount: Int, limit: Int)
  /// The writer belongs to the process that opened it. A forked child must open its own writer.
  case forked(path: String)
}

extension StoreError: CustomStringConvertible {
  /// What happened to which file, and what to do, for people.
  public var description: String {
    switch self {
    case .unusable(let path, let reason): "\(path) is not usable as a store: \(reason)"
    case .newer(let path, let reason):
      "\(path) \(Self.newerWords) (\(reason)); install that version, and leave the file as it is"
    case .locked(let path, let holder):
      "\(path) is being written by \(holder ?? "another process"); try again when it is done"
    case .schema(let path, let reason): "\(path) does not fit this program: \(reason)"
    case .sealed(let path, let isOtherKey):
      isOtherKey
        ? "\(path) is sealed with another key than the one that was given"
        : "\(path) is sealed, and no key was given"
    case .damaged(let path, let offset, let what):
      "\(path) is damaged at offset \(offset): \(what); run verify to see what is lost"
    case .unreadable(let path, let offset):
      "the device cannot read \(path) at offset \(offset); run verify to see what is lost"
    case .io(let error): error.description
    case .closed(let path):
      "\(path) was closed, as its user was signed out or the program let go of it; ask for it again"
    case .replaced(let path):
      "\(path) is no longer the file that was opened (someone renamed, removed or replaced it); open it again"
    case .poisoned(let path, let reason):
      "\(path) takes no more writes since one failed (\(reason)); reopen it to go on from the last commit"
    case .full(let path, let limit):
      "\(path) would grow past \(limit) bytes; compact it"
    case .noRoom(let path, let needed, let available):
      "\(path) needs up to \(needed) bytes for a copy of what is live next to it, and \(available) are free; free some space"
        + " and try again, nothing was changed"
    case .tooLarge(let what, let byteCount, let limit):
      "\(what) of \(byteCount) bytes is longer than the format's limit of \(limit)"
    case .forked(let path):
      "\(path) was opened for writing by this process's parent; open it again"
    }
  }
}

extension StoreError {
  /// What every message about a file of a newer version says, so that advice about damage is not added to it.
  package static let newerWords = "was written by a newer Shelfmark"

  /// Whether a newer version of this package wrote the file. It is not damaged then.
  package var isNewer: Bool { if case .newer = self { true } else { false } }
}

/// Runs an operation of the storage layer and converts its error to this module's type.
@inline(__always)
func storage<Result: ~Copyable>(
  _ operation: () throws(StorageError) -> Result
) throws(StoreError) -> Result {
  do { return try operation() } catch { throw .io(error) }
}

extension StoreError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .unusable, .newer, .damaged, .schema, .tooLarge: .data
    case .locked, .replaced, .closed: .temporary
    case .io(let cause): cause.exitStatus
    case .sealed: .permission
    case .unreadable, .poisoned, .full, .noRoom: .io
    case .forked: .software
    }
  }

  /// What a server answers to a request that fails because of it.
  package var refusal: Refusal { .unavailable("storeUnavailable") }
}
