/// Where a user's catalogue comes from, as settings say: what a synchronisation takes where it is told nothing else.
///
/// Each comes from the user's settings, else from those of the default store. None of them is a secret: credentials are
/// in a file of their own, of which a setting has the name.
public struct SyncSettings: Sendable, Equatable {
  /// The server's URL.
  public var url: String?
  /// The organisation whose catalogue it is.
  public var organisation: String?
  /// The path of a PEM file of authorities to trust instead of the system's.
  public var caFile: String?
  /// The path of a file that holds the value of the `Authorization` header.
  public var authorizationFile: String?

  public init() {}

  /// - Parameters:
  ///   - id: The user.
  ///   - workspace: Where the settings are.
  /// - Throws: `SettingsError.type` for a setting that is no text; `WorkspaceError.userID`; `StoreError`.
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
    public var isPath: Bool { self == .caFile || self == .authorizationFile }
  }
}
