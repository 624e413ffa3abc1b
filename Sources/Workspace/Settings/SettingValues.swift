/// The value of a setting at once, and again after each change by any process.
///
/// It ends when the settings are closed. What is stored as another type is an error, and the sequence goes on behind it.
public struct SettingValues<Value: Codable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Value

  let settings: Settings
  let setting: Setting<Value>

  public func makeAsyncIterator() -> Iterator { Iterator(settings, setting) }

  public struct Iterator: AsyncIteratorProtocol {
    private let settings: Settings
    private let setting: Setting<Value>
    private var signals: AsyncStream<Void>.Iterator
    /// What was told last: the document, or `nil` for the default.
    private var told: [UInt8]??

    init(_ settings: Settings, _ setting: Setting<Value>) {
      self.settings = settings
      self.setting = setting
      signals = settings.observers.signals().makeAsyncIterator()
    }

    /// - Returns: `nil` when the settings were closed.
    /// - Throws: `SettingsError.type`, `.unreadable`, `.name`; `StoreError`.
    public mutating func next() async throws -> Value? {
      // The first signal comes at once.
      while await signals.next() != nil {
        let now: SettingsSnapshot
        do { now = try settings.snapshot() } catch SettingsError.closed { return nil }
        let bytes = try now.bytes(setting.name)
        if let told, told == bytes { continue }
        told = .some(bytes)
        return try now.get(setting)
      }
      return nil
    }
  }
}
