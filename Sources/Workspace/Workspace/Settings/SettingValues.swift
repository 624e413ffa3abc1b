/// An asynchronous sequence of a setting's value: the current one, then a new one after each change by any process.
///
/// It ends when the settings are closed. It throws an error for a stored value of another type, and can be iterated
/// further after that.
public struct SettingValues<Value: Codable & Sendable>: AsyncSequence, Sendable {
  /// The value of the setting; its default value if none is stored.
  public typealias Element = Value

  let settings: Settings
  let setting: Setting<Value>

  /// Begins an iteration whose first element is the current value.
  public func makeAsyncIterator() -> Iterator { Iterator(settings, setting) }

  /// An iterator that waits for the next change of the value.
  public struct Iterator: AsyncIteratorProtocol {
    private let settings: Settings
    private let setting: Setting<Value>
    private var signals: AsyncStream<Void>.Iterator
    /// The last document that was returned, or `nil` for the default value.
    private var lastBytes: [UInt8]??

    init(_ settings: Settings, _ setting: Setting<Value>) {
      self.settings = settings
      self.setting = setting
      signals = settings.observers.signals().makeAsyncIterator()
    }

    /// The next value.
    ///
    /// - Returns: `nil` when the settings were closed.
    /// - Throws: `SettingsError.type`, `.unreadable`, `.name`; `StoreError`.
    public mutating func next() async throws -> Value? {
      // The first signal arrives at once.
      while await signals.next() != nil {
        let now: SettingsSnapshot
        do { now = try settings.snapshot() } catch SettingsError.closed { return nil }
        let bytes = try now.bytes(setting.name)
        if let lastBytes, lastBytes == bytes { continue }
        lastBytes = .some(bytes)
        return try now.get(setting)
      }
      return nil
    }
  }
}
