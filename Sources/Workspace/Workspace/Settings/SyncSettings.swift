import CatalogSync
public import DocumentFormat
import TextFormat

/// The settings for synchronising a user's catalogue, used if a synchronisation is given no explicit ones.
///
/// Each value comes from the user's settings or, if not set there, from the default store. None of them is a secret:
/// credentials are in a separate file, whose path is a setting.
public struct SyncSettings: Sendable, Equatable {
  /// The server's URL.
  public var url: String?
  /// The organisation that owns the catalogue.
  public var organisation: String?
  /// The path of a PEM file with certificate authorities to trust instead of the system's.
  public var caFile: String?
  /// The path of a file that contains the value of the `Authorization` header.
  public var authorizationFile: String?

  /// The keys of the server's products, other than their fields, whose values are kept in `extra`.
  public var extraKeys: Set<String> = []

  /// Creates settings without any value.
  public init() {}

  /// Reads the settings of a user.
  ///
  /// - Parameters:
  ///   - id: The user's ID.
  ///   - workspace: The workspace that contains the settings.
  /// - Throws: `SettingsError.type` for a setting that is not text, `.unreadable` for a list of keys that cannot be used;
  ///   `WorkspaceError.userID`; `StoreError`.
  public init(of id: String, in workspace: WorkspaceDirectory) throws {
    let own = try workspace.settings(of: id).snapshot()
    let common = try workspace.settings(of: nil).snapshot()
    func value(_ name: Name) throws -> String? {
      let setting = Setting<String?>(name.rawValue, default: nil)
      return try own.get(setting) ?? common.get(setting)
    }
    url = try value(.url)
    organisation = try value(.organisation)
    caFile = try value(.caFile)
    authorizationFile = try value(.authorizationFile)
    extraKeys = try Self.extraKeys(in: [own, common])
  }

  /// Reads the keys of ``Name/extra`` alone: those of the user, or else of the default store.
  ///
  /// - Parameters:
  ///   - id: The user's ID.
  ///   - workspace: The workspace that contains the settings.
  /// - Throws: `SettingsError.unreadable` for a value that cannot be used; `WorkspaceError.userID`; `StoreError`.
  public static func extraKeys(of id: String, in workspace: WorkspaceDirectory) throws -> Set<String> {
    try extraKeys(in: [workspace.settings(of: id).snapshot(), workspace.settings(of: nil).snapshot()])
  }

  private static func extraKeys(in snapshots: [SettingsSnapshot]) throws -> Set<String> {
    for snapshot in snapshots {
      guard let value = try snapshot.value(named: Name.extra.rawValue) else { continue }
      do throws(ValueFault) { return try keys(value) } catch {
        throw SettingsError.unreadable(name: Name.extra.rawValue, path: snapshot.path, reason: error)
      }
    }
    return []
  }

  /// Sets a value: of ``Name/extra`` a list of keys, or a text with keys between commas; of all others a text.
  ///
  /// - Throws: `SettingsError.value` if the value is invalid. Nothing changed then.
  public mutating func set(_ name: Name, to value: DocumentValue) throws(SettingsError) {
    do throws(ValueFault) {
      switch name {
      case .url: url = try Self.text(value)
      case .organisation: organisation = try Self.text(value)
      case .caFile: caFile = try Self.text(value)
      case .authorizationFile: authorizationFile = try Self.text(value)
      case .extra: extraKeys = try Self.keys(value)
      }
    } catch { throw .value(name: name.rawValue, reason: error) }
  }

  private static func text(_ value: DocumentValue) throws(ValueFault) -> String {
    guard case .text(let text) = value else { throw ValueFault("write a text, not \(value.words)") }
    return text
  }

  /// The greatest number of keys.
  private static let keyLimit = 1000

  private static func keys(_ value: DocumentValue) throws(ValueFault) -> Set<String> {
    var names: [String] = []
    if case .text(let text) = value {
      names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmed }
    } else {
      for element in try value.list(of: "keys, such as [\"price\", \"color\"]") {
        guard case .text(let name) = element else {
          throw ValueFault("write each key as a text such as \"price\", not \(element.words)")
        }
        names.append(name)
      }
    }
    if names.count > keyLimit { throw ValueFault("a list has at most \(keyLimit) keys, and this one \(names.count)") }
    for name in names {
      if name.isEmpty { throw ValueFault("a key is empty; write its name, or [] for no keys") }
      if ImportOptions.isField(name) {
        throw ValueFault(
          "\(DocumentValue.text(name).words) is a field of every product, which is read anyway; leave it out, and name keys"
            + " beyond the fields")
      }
    }
    return Set(names)
  }

  /// The names of the settings.
  public enum Name: String, CaseIterable, Sendable {
    case url = "sync.url"
    case organisation = "sync.organisation"
    case caFile = "sync.caFile"
    case authorizationFile = "sync.authorizationFile"
    case extra = "sync.extra"

    /// Whether the value is the path of a file.
    package var isPath: Bool { self == .caFile || self == .authorizationFile }
  }
}
