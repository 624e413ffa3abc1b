import TextFormat

/// An error in a configuration.
package struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The source of a value.
  package enum Source: Sendable, Equatable, CustomStringConvertible {
    /// A command-line argument, including its dashes.
    case argument(String)
    case variable(String)
    /// A line of a file, counted from 1.
    case file(String, line: Int?)
    /// No source, or more than one.
    case nowhere

    /// The source as messages name it: the argument with its dashes, `$NAME`, or `FILE:LINE`. Control characters are
    /// escaped.
    package var description: String {
      switch self {
      case .argument(let name): Shown.plain(name)
      case .variable(let name): "$\(Shown.plain(name))"
      case .file(let path, let line?): "\(Shown.plain(path)):\(line)"
      case .file(let path, nil): Shown.plain(path)
      case .nowhere: "configuration"
      }
    }
  }

  /// The key, for example `http.address`; `nil` if the fault is not about a key.
  package var key: String?
  /// The value as given, on one line; `nil` for a secret value and if there is no value.
  package var value: String?
  /// The source of the value.
  package var source: Source
  /// What is wrong, and how to fix it.
  package var problem: String
  /// Whether a file could not be read, which has an exit code of its own.
  package var isUnreadableFile = false

  /// Creates a fault.
  ///
  /// - Parameters:
  ///   - key: The name of the setting; `nil` if the fault is not about a setting.
  ///   - value: The value as it was given; `nil` to leave it out, as for a secret.
  ///   - source: Where the value comes from.
  ///   - problem: What is wrong and what to do.
  package init(_ key: String?, value: String? = nil, source: Source = .nowhere, _ problem: String) {
    self.key = key
    self.value = value
    self.source = source
    self.problem = problem
  }

  /// The source, key, value and problem on one line. Control characters are escaped.
  package var description: String {
    var text = "\(source): "
    // An argument's name already identifies the key.
    if case .argument = source { text = "\(source)" } else if let key { text += Shown.plain(key) }
    if let value { text += " \(Shown.quoted(value))" }
    return key == nil && value == nil ? "\(source): \(problem)" : "\(text): \(problem)"
  }
}

/// All errors in a configuration.
package struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
  /// The faults, at least one.
  package let faults: [ConfigurationFault]

  /// Creates an error of at least one fault.
  package init(faults: [ConfigurationFault]) { self.faults = faults }

  /// The exit code from `sysexits.h`: 66 if a file cannot be read, 64 for a mistake of the caller (an argument, a
  /// variable, a missing value), 65 for an error in a file.
  package var exitCode: Int32 {
    if faults.contains(where: { $0.isUnreadableFile }) { return 66 }
    let isInFile = faults.allSatisfy { if case .file = $0.source { true } else { false } }
    return isInFile ? 65 : 64
  }

  /// One line for each fault.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// Formats text from outside for a line of a message.
enum Shown {
  /// The maximum number of characters of a value.
  static let limit = 120

  static func quoted(_ text: String) -> String { "\"\(escaped(text, quotes: true))\"" }
  static func plain(_ text: String) -> String { escaped(text, quotes: false) }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    let beginning = String(text.unicodeScalars.prefix(limit))
    let result = TerminalText.escaped(beginning, named: "\n\t", marked: quotes ? "\"\\" : "")
    return text.unicodeScalars.count > limit ? result + "…" : result
  }

  /// A URL without possible secrets: the part before an `@`, and everything from a `?` or `#`.
  static func url(_ text: String) -> String {
    let address = text.prefix { $0 != "?" && $0 != "#" }
    let rest = address.count < text.count ? "?…" : ""
    guard let at = address.lastIndex(of: "@") else { return address + rest }
    // The scheme, if the text before the credentials is one.
    let scheme = address[..<at].firstRange(of: "://").map { String(address[..<$0.upperBound]) } ?? ""
    return scheme + "…" + address[at...] + rest
  }
}
