import TextFormat
package import Platform

/// A value of a setting of ``MatchingSettings`` that cannot be used.
public struct MatchingSettingsError: Error, Sendable, Equatable {
  /// The store that contains a value.
  public struct Store: Sendable, Equatable {
    /// The path of the store's file.
    public let path: String
    /// The user whose store it is; `nil` for the default one.
    public let user: String?
  }

  /// The setting.
  public let name: MatchingSettings.Name
  /// What is wrong and what to do, for users.
  public let reason: String
  /// The store that contains the value; `nil` if it comes from elsewhere.
  public let store: Store?

  init(_ name: MatchingSettings.Name, _ reason: String, in store: Store? = nil) {
    self.name = name
    self.reason = reason
    self.store = store
  }
}

extension MatchingSettingsError: CustomStringConvertible {
  /// The setting, what is wrong with its value and, if a store contains it, how to unset it.
  public var description: String {
    guard let store else { return "\(name.rawValue): \(reason)" }
    return "\(name.rawValue) in \(TerminalText.shown(store.path)) cannot be used: \(reason); set it anew, or unset it"
      + " with 'catalogctl config unset \(name.rawValue)\(Self.option(for: store.user))'"
  }

  /// The option that selects the store in a shell.
  private static func option(for user: String?) -> String {
    guard let user else { return " --default" }
    // Any other ID would have to be quoted, and its user knows how.
    let isPlain = user.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "."): true
      case UInt8(ascii: "-"): user.utf8.first != byte
      default: false
      }
    }
    return isPlain ? " --user \(user)" : ""
  }
}

extension MatchingSettingsError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    store == nil ? .usage : .data
  }
}
