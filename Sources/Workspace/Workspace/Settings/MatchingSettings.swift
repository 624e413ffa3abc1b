public import Barcodes
public import Catalog
public import DocumentFormat

/// The settings for parsing and matching scans.
///
/// Each value comes from the user's settings or, if not set there, from the default store; see
/// `MatchingOptions.init(of:in:)`. A program that has settings of its own begins with those and adds what the
/// stores say:
///
///     var settings = MatchingSettings()
///     try settings.set(.measures, to: .text("de"))
///     try settings.fill(from: workspace.settings(of: "ana").snapshot(), of: "ana") { throw $0 }
///     let match = try catalogue.match(code, options: settings.options)
///
/// Invariant: every value that is set is valid, so ``options`` can always be computed.
public struct MatchingSettings: Sendable, Equatable {
  /// The texts that stand for FNC1 in addition to GS; `nil` if not set.
  public private(set) var separators: [String]?
  /// The rules for weights, prices and counts in restricted numbers; `nil` if not set.
  public private(set) var measures: MeasureRules?
  /// The minimum number of characters of a head; `nil` if not set.
  public private(set) var minimumHeadLength: Int?
  /// The minimum number of characters of a head of digits if the code is a sound GTIN; `nil` if not set.
  public private(set) var minimumHeadDigits: Int?
  /// Whether heads are matched; `nil` if not set.
  public private(set) var areHeadsEnabled: Bool?
  /// The symbologies whose data have no head, by the letter of their identifier; `nil` if not set.
  public private(set) var excludedSymbologies: Set<Unicode.Scalar>?
  /// The maximum number of products that are suggested for a scan that matches none; `nil` if not set.
  public private(set) var suggestionLimit: Int?
  /// Whether a scan that equals an SKU finds its product; `nil` if not set.
  public private(set) var sku: SKUMatching?
  /// The texts that are no codes; `nil` if not set.
  public private(set) var ignoredTexts: [String]?

  /// Creates settings without any value.
  public init() {}

  /// The range of the lengths of heads that can be set: a code has no more bytes.
  public static let headLengths = 1...ScanConfiguration.defaultMaximumLength

  /// The range of the number of suggestions that can be set; 0 for none.
  public static let suggestionLimits = 0...20

  /// The values of `matching.sku`.
  public static let skuChoices = SKUMatching.allCases.map(\.rawValue)

  /// The names of the settings.
  public enum Name: String, CaseIterable, Sendable {
    case separators = "matching.separators"
    case measures = "matching.measures"
    case minimumHeadLength = "matching.heads.minimum"
    case minimumHeadDigits = "matching.heads.digits"
    case areHeadsEnabled = "matching.heads.enabled"
    case excludedSymbologies = "matching.heads.excluded"
    case suggestionLimit = "matching.suggestions"
    case sku = "matching.sku"
    case ignoredTexts = "matching.ignore"

    /// What all names start with.
    public static let prefix = "matching."

    /// The value that a text of a command line stands for: of ``separators``, the text itself; of any other setting,
    /// the JSON in it or, if it is no JSON, the text.
    public func value(of text: String) -> DocumentValue {
      let json = try? DocumentValue(json: text)
      // Most separators are no JSON, and one that looks like it is a separator nevertheless.
      if self == .separators, json?.kind != .text { return .text(text) }
      return json ?? .text(text)
    }
  }

  /// Whether a value is set.
  public func isSet(_ name: Name) -> Bool {
    switch name {
    case .separators: separators != nil
    case .measures: measures != nil
    case .minimumHeadLength: minimumHeadLength != nil
    case .minimumHeadDigits: minimumHeadDigits != nil
    case .areHeadsEnabled: areHeadsEnabled != nil
    case .excludedSymbologies: excludedSymbologies != nil
    case .suggestionLimit: suggestionLimit != nil
    case .sku: sku != nil
    case .ignoredTexts: ignoredTexts != nil
    }
  }

  /// Sets a value.
  ///
  /// - Throws: ``MatchingSettingsError`` if the value is invalid. Nothing changed then.
  public mutating func set(_ name: Name, to value: DocumentValue) throws(MatchingSettingsError) {
    do throws(ValueFault) {
      switch name {
      case .separators: separators = try Self.separators(value)
      case .measures: measures = try Self.measures(value)
      case .minimumHeadLength: minimumHeadLength = try Self.number(value, in: Self.headLengths)
      case .minimumHeadDigits: minimumHeadDigits = try Self.number(value, in: Self.headLengths)
      case .areHeadsEnabled: areHeadsEnabled = try Self.flag(value)
      case .excludedSymbologies: excludedSymbologies = try Self.symbologies(value)
      case .suggestionLimit: suggestionLimit = try Self.number(value, in: Self.suggestionLimits)
      case .sku: sku = try Self.skuMatching(value)
      case .ignoredTexts: ignoredTexts = try Self.ignoredTexts(value)
      }
    } catch { throw MatchingSettingsError(name, error.reason) }
  }

  /// Takes the values that a store has and that are not set yet.
  ///
  /// - Parameters:
  ///   - snapshot: The settings of the store.
  ///   - user: The user whose store it is; `nil` for the default one. For messages.
  ///   - onFault: Called for each stored value that cannot be used. Its setting stays as it is, unless this throws.
  /// - Throws: What `onFault` throws; `StoreError`. The values that were read before are set.
  public mutating func fill(
    from snapshot: SettingsSnapshot, of user: String?, onFault: (MatchingSettingsError) throws -> Void
  ) throws {
    let store = MatchingSettingsError.Store(path: snapshot.path, user: user)
    for name in Name.allCases where !isSet(name) {
      do {
        if let value = try snapshot.value(named: name.rawValue) { try set(name, to: value) }
      } catch let error as MatchingSettingsError {
        try onFault(MatchingSettingsError(name, error.reason, in: store))
      } catch SettingsError.unreadable(_, _, let reason) {
        try onFault(MatchingSettingsError(name, "the stored bytes are no value: \(reason)", in: store))
      }
    }
  }

  /// The options for matching: the values that are set, and the defaults of all others.
  public var options: MatchingOptions {
    var options = MatchingOptions()
    options.scan.separators = separators ?? options.scan.separators
    options.measures = measures ?? options.measures
    options.heads.minimumLength = minimumHeadLength ?? options.heads.minimumLength
    options.heads.minimumDigits = minimumHeadDigits ?? options.heads.minimumDigits
    options.heads.isEnabled = areHeadsEnabled ?? options.heads.isEnabled
    options.heads.excludedSymbologies = excludedSymbologies ?? options.heads.excludedSymbologies
    options.suggestionLimit = suggestionLimit ?? options.suggestionLimit
    options.sku = sku ?? options.sku
    options.ignoredTexts = ignoredTexts.map { Set($0.map { $0.uppercased() }) } ?? options.ignoredTexts
    return options
  }
}

extension MatchingSettings {
  /// Reads the settings of a user.
  ///
  /// - Parameters:
  ///   - id: The user's ID; `nil` for the default store alone.
  ///   - workspace: The workspace that contains the settings.
  /// - Throws: ``MatchingSettingsError`` for a stored value that cannot be used; `WorkspaceError.userID`; `StoreError`.
  public init(of id: String?, in workspace: WorkspaceDirectory) throws {
    if let id { try fill(from: workspace.settings(of: id).snapshot(), of: id) { throw $0 } }
    try fill(from: workspace.settings(of: nil).snapshot(), of: nil) { throw $0 }
  }
}

extension MatchingOptions {
  /// Reads how the scans of a user are matched: each value from the user's settings, else from the default store, else
  /// the default.
  ///
  ///     let options = try MatchingOptions(of: "ana", in: WorkspaceDirectory(root: root))
  ///     let match = try catalogue.match("2812348123451", options: options)
  ///
  /// - Parameters:
  ///   - id: The user's ID; `nil` for the default store alone.
  ///   - workspace: The workspace that contains the settings.
  /// - Throws: ``MatchingSettingsError`` for a stored value that cannot be used; `WorkspaceError.userID`; `StoreError`.
  public init(of id: String?, in workspace: WorkspaceDirectory) throws {
    self = try MatchingSettings(of: id, in: workspace).options
  }
}
