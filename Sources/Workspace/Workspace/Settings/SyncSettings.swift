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

  /// Creates settings without any value.
  public init() {}

  /// Reads the settings of a user.
  ///
  /// - Parameters:
  ///   - id: The user's ID.
  ///   - workspace: The workspace that contains the settings.
  /// - Throws: `SettingsError.type` for a setting that is not text; `WorkspaceError.userID`; `StoreError`.
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
  }

  /// The names of the settings.
  public enum Name: String, CaseIterable, Sendable {
    case url = "sync.url"
    case organisation = "sync.organisation"
    case caFile = "sync.caFile"
    case authorizationFile = "sync.authorizationFile"

    /// Whether the value is the path of a file.
    package var isPath: Bool { self == .caFile || self == .authorizationFile }
  }
}
