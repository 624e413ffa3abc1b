public import DocumentFormat

/// A typed key of a setting: its name, the type of its value, and its default value.
///
///     extension Setting where Value == Bool {
///       static var showAd: Setting { Setting("showAd", default: true) }
///     }
///
///     if try workspace.defaultStores.settings.get(.showAd) { … }
///
/// A value can be any `Codable` type: strings, integers, doubles, booleans, dates, data, and types of the application.
public struct Setting<Value: Codable & Sendable>: Sendable {
  /// The name: 1 to ``maximumNameByteCount`` bytes. Names are compared bytewise.
  public let name: String
  /// The value that ``Settings/get(_:)`` returns if nothing is set.
  public let defaultValue: Value

  /// Creates a key. Names are checked when the key is used: see ``maximumNameByteCount``.
  public init(_ name: String, default value: Value) {
    self.name = name
    defaultValue = value
  }

  /// The maximum length of a name in bytes.
  public static var maximumNameByteCount: Int { SettingName.maximumByteCount }
}

/// A stored setting, without its Swift type.
public struct StoredSetting: Sendable, Equatable {
  /// The name under which the value is stored.
  public let name: String
  /// The stored value, decoded without its Swift type.
  public let value: DocumentValue

  /// Creates a setting as it is listed, for programs that do not know its type.
  public init(name: String, value: DocumentValue) {
    self.name = name
    self.value = value
  }
}

enum SettingName {
  static let maximumByteCount = 200

  /// The key of a setting in its table.
  ///
  /// - Throws: `SettingsError.name`.
  static func key(_ name: String) throws(SettingsError) -> [UInt8] {
    guard (1...maximumByteCount).contains(name.utf8.count) else { throw .name(name) }
    return Array(name.utf8)
  }
}
