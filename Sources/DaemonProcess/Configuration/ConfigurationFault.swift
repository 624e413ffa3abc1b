import TextFormat

/// Something in a configuration that cannot be.
public struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where a value comes from.
  public enum Source: Sendable, Equatable, CustomStringConvertible {
    /// With its dashes.
    case argument(String)
    case variable(String)
    /// Lines count from 1.
    case file(String, line: Int?)
    /// Nobody gave one, or several did.
    case nowhere

    /// The source as messages name it: the argument with its dashes, `$NAME`, or `FILE:LINE`. Control characters are
    /// escaped.
    public var description: String {
      switch self {
      case .argument(let name): Shown.plain(name)
      case .variable(let name): "$\(Shown.plain(name))"
      case .file(let path, let line?): "\(Shown.plain(path)):\(line)"
      case .file(let path, nil): Shown.plain(path)
      case .nowhere: "configuration"
      }
    }
  }

  /// The key, such as `http.address`; `nil` where it is not about one.
  public var key: String?
  /// The value as it was given, on one line; `nil` for a secret one and where there is none.
  public var value: String?
  /// Where it stands.
  public var source: Source
  /// What is wrong, and what to do.
  public var problem: String
  /// Whether a file could not be read, which has an exit code of its own.
  public var isUnreadableFile = false

  /// Creates a fault.
  ///
  /// - Parameters:
  ///   - key: The name of the setting; `nil` if the fault is not about a setting.
  ///   - value: The value as it was given; `nil` to leave it out, as for a secret.
  ///   - source: Where the value comes from.
  ///   - problem: What is wrong and what to do.
  public init(_ key: String?, value: String? = nil, source: Source = .nowhere, _ problem: String) {
    self.key = key
    self.value = value
    self.source = source
    self.problem = problem
  }

  /// The source, key, value and problem on one line. Control characters are escaped.
  public var description: String {
    var text = "\(source): "
    // An argument's name says which key it is.
    if case .argument = source { text = "\(source)" } else if let key { text += Shown.plain(key) }
    if let value { text += " \(Shown.quoted(value))" }
    return key == nil && value == nil ? "\(source): \(problem)" : "\(text): \(problem)"
  }
}

/// Everything in a configuration that cannot be.
public struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
  /// At least one.
  public let faults: [ConfigurationFault]

  /// Creates an error of at least one fault.
  public init(faults: [ConfigurationFault]) { self.faults = faults }

  /// The exit code of `sysexits.h`: 66 where a file cannot be read, 64 for a mistake of the caller (an argument, a variable,
  /// a value that nobody gave), 65 for one in a file.
  public var exitCode: Int32 {
    if faults.contains(where: { $0.isUnreadableFile }) { return 66 }
    let isInFile = faults.allSatisfy { if case .file = $0.source { true } else { false } }
    return isInFile ? 65 : 64
  }

  /// A line for each.
  public var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// What others wrote, for a line of a message.
enum Shown {
  /// The most characters of a value.
  static let limit = 120

  static func quoted(_ text: String) -> String { "\"\(escaped(text, quotes: true))\"" }
  static func plain(_ text: String) -> String { escaped(text, quotes: false) }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    let beginning = String(text.unicodeScalars.prefix(limit))
    let result = TerminalText.escaped(beginning, named: "\n\t", marked: quotes ? "\"\\" : "")
    return text.unicodeScalars.count > limit ? result + "…" : result
  }

  /// A URL without what may be a secret: what stands before an `@`, and everything from a `?` or `#`.
  static func url(_ text: String) -> String {
    let address = text.prefix { $0 != "?" && $0 != "#" }
    let rest = address.count < text.count ? "?…" : ""
    guard let at = address.lastIndex(of: "@") else { return address + rest }
    // What stands before the credentials, if that is a scheme.
    let scheme = address[..<at].range(of: "://").map { String(address[..<$0.upperBound]) } ?? ""
    return scheme + "…" + address[at...] + rest
  }
}
