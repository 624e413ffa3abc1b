public import Platform
import Sealing

/// Why the keys of a sealed user cannot be read, used or changed.
public enum KeyError: Error, Sendable, Equatable {
  // When the keys are opened.

  /// The user is sealed, and no key was given.
  case noKey(path: String)
  /// The key, or passphrase, that was given is not one that opens the keys.
  case otherKey(path: String)
  /// The store at `path` is sealed, and its directory has no keys file.
  case lost(path: String)
  /// The keys file is not as it was written.
  case damaged(path: String, what: String)
  /// A newer program wrote the keys file.
  case newer(path: String, version: String)
  /// This system cannot encrypt or decrypt: it has no libsodium, or too little memory.
  case system(reason: String, isMemory: Bool)
  /// What was given as a key file cannot be read: `name` is the file.
  case unreadable(name: String, reason: String)
  /// What was given as a key file is not for one user alone: `name` is the file.
  case exposed(name: String, reason: String)
  /// What was given has no key in it: `name` is the file, or `the key command`.
  case noKeyInside(name: String, reason: String)
  /// The key command has failed.
  case command(reason: String)
  /// The time is over for which the key command allowed to use the key.
  case leaseOver

  // When they are changed.

  /// The user has no keys: the stores are in clear.
  case notSealed(path: String)
  /// No wrapping has this id.
  case noWrapping(path: String, id: String)
  /// The wrapping is the only one: without it nobody could open the stores.
  case lastWrapping(path: String, id: String)
  /// The key opens the keys already.
  case sameKey(path: String, id: String)
  /// There are as many wrappings as a keys file can have.
  case tooMany(path: String, limit: Int)
  /// Another process changes the keys.
  case locked(path: String)
  case io(StorageError)
}

extension KeyError: CustomStringConvertible {
  /// What is wrong with which file, and what to do, for people.
  public var description: String {
    switch self {
    case .noKey(let path): "\(path): the stores are sealed, and no key was given"
    case .otherKey(let path): "\(path): this is another key than those that open the stores"
    case .lost(let path):
      "\(path) is sealed, and the file of its keys, \(KeyFile.name), is not beside it; bring it back from a backup:"
        + " without it no key opens the store"
    case .damaged(let path, let what):
      "\(path) is damaged: \(what); bring the file back from a backup: without it no key opens the stores"
    case .newer(let path, let version):
      "\(path) has version \(version), which a newer program wrote: install that version"
    case .system(let reason, _): reason
    case .unreadable(let name, let reason), .exposed(let name, let reason), .noKeyInside(let name, let reason):
      "\(name): \(reason)"
    case .command(let reason): "the key command \(reason)"
    case .leaseOver: "the time is over for which the key command gave the key, and it was not given again"
    case .notSealed(let path): "\(path): there is no such file, as the stores are not sealed"
    case .noWrapping(let path, let id): "\(path) has no key \(id)"
    case .lastWrapping(let path, let id):
      "\(path): \(id) is the last key: without it nobody could open the stores; add another one first"
    case .sameKey(let path, let id): "\(path): this key is there already, as \(id)"
    case .tooMany(let path, let limit): "\(path) has \(limit) keys, which is the limit: remove one first"
    case .locked(let path): "\(path): another process is changing the keys; try again"
    case .io(let error): error.description
    }
  }
}

extension KeyError: ProgramError {
  package var exitStatus: ExitStatus {
    switch self {
    case .noKey, .otherKey, .lost, .exposed, .leaseOver: .permission
    case .damaged, .newer, .noKeyInside: .data
    case .system(_, let isMemory): isMemory ? .io : .unavailable
    case .unreadable: .noInput
    case .command: .unavailable
    case .notSealed, .noWrapping, .lastWrapping, .sameKey, .tooMany: .no
    case .locked: .temporary
    case .io(let error): error.exitStatus
    }
  }

  package var refusal: Refusal { .unavailable("storeUnavailable") }
}

extension KeyError {
  /// An error of the system's encryption.
  init(_ error: SealingError) { self = .system(reason: error.description, isMemory: error == .noMemory) }
}

/// Calls a function of `Sealing` with its errors as those of keys.
func sealing<Result>(_ body: () throws(SealingError) -> Result) throws(KeyError) -> Result {
  do { return try body() } catch { throw KeyError(error) }
}

/// Calls a function of `Storage` with its errors as those of keys.
func keyStorage<Result>(_ body: () throws(StorageError) -> Result) throws(KeyError) -> Result {
  do { return try body() } catch { throw .io(error) }
}

extension SecretBytes {
  /// The bytes of a derived value that is not secret, such as a check value.
  func published() -> [UInt8] { unsafe withBytes { unsafe Array($0) } }
}
