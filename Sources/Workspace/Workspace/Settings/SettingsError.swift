package import Platform

/// An error of settings, other than a `StoreError` of their file. If one is thrown, nothing has changed.
public enum SettingsError: Error, Sendable {
  /// A name is empty, or longer than 200 bytes.
  case name(String)
  /// The stored value does not have the type that the program expects.
  case type(name: String, path: String, stored: String, expected: String)
  /// The stored bytes are not a valid value.
  case unreadable(name: String, path: String, reason: any Error)
  /// The value cannot be encoded.
  case value(name: String, reason: any Error)
  /// The settings were closed: their user is no longer signed in, or the workspace was closed.
  case closed(path: String)
}

extension SettingsError: CustomStringConvertible {
  /// What is wrong with which setting, and what to do, for people.
  public var description: String {
    switch self {
    case .name(let name):
      "\"\(name)\" is not a valid setting name: a name has 1 to \(SettingName.maximumByteCount) bytes"
    case .type(let name, let path, let stored, let expected):
      "setting \(name) in \(path) is \(stored), and this program expects \(expected); set or unset it"
    case .unreadable(let name, let path, let reason):
      "setting \(name) in \(path) cannot be read (\(reason)); set or unset it"
    case .value(let name, let reason): "setting \(name) cannot have this value: \(reason)"
    case .closed(let path):
      "\(path) was closed, as its user was signed out or the program let go of it; ask for it again"
    }
  }
}

extension SettingsError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .name, .value: .usage
    case .type, .unreadable: .data
    case .closed: .temporary
    }
  }
}
