public import DocumentFormat

/// A typed key of a setting: its name, the type of its values, and what holds where none is set.
///
///     extension Setting where Value == Bool {
///       static var showAd: Setting { Setting("showAd", default: true) }
///     }
///
///     if try workspace.defaultStores.settings.get(.showAd) { … }
///
/// A value is anything `Codable`: strings, integers, doubles, booleans, dates, data, and types of the application.
public struct Setting<Value: Codable & Sendable>: Sendable {
  /// 1 to ``maximumNameByteCount`` bytes; names are told apart byte by byte.
  public let name: String
  /// What ``Settings/get(_:)`` gives where nothing is set.
  public let defaultValue: Value

  public init(_ name: String, default value: Value) {
    self.name = name
    defaultValue = value
  }

  /// Bytes of the longest name.
  public static var maximumNameByteCount: Int { SettingName.maximumByteCount }
}

/// A setting as it is stored, without its Swift type.
public struct StoredSetting: Sendable, Equatable {
  public let name: String
  public let value: DocumentValue

  public init(name: String, value: DocumentValue) {
    self.name = name
    self.value = value
  }
}

enum SettingName {
  static let maximumByteCount = 200

  /// The key of a setting.
  ///
  /// - Throws: `SettingsError.name`.
  static func key(_ name: String) throws(SettingsError) -> [UInt8] {
    guard (1...maximumByteCount).contains(name.utf8.count) else { throw .name(name) }
    return Array(name.utf8)
  }
}
