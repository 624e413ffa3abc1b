import Platform

/// A profile of the files that all programs for S3 share: `~/.aws/credentials` and `~/.aws/config`.
///
/// `AWS_SHARED_CREDENTIALS_FILE` and `AWS_CONFIG_FILE` name other files, `AWS_PROFILE` another profile than `default`.
struct AWSProfile: Sendable {
  /// A section of a file.
  struct Section: Sendable {
    /// The file and the name, for messages.
    let source: String
    let values: [String: String]
  }

  let name: String
  /// The section of the file of credentials; `nil` if there is none.
  let credentials: Section?
  /// The section of the file of settings; `nil` if there is none.
  let config: Section?
  /// The file of credentials, for messages.
  let credentialsPath: String

  /// Reads the profile that an environment names. Blocks.
  ///
  /// - Throws: `ObjectStoreError.storage` for a file that cannot be read; `ObjectStoreError.credentials` if
  ///   `AWS_PROFILE` names a profile that neither file has.
  init(environment: [String: String]) throws(ObjectStoreError) {
    let chosen = environment.nonEmpty("AWS_PROFILE")
    let name = chosen ?? "default"
    let credentialsPath = Self.path("AWS_SHARED_CREDENTIALS_FILE", "credentials", environment)
    let configPath = Self.path("AWS_CONFIG_FILE", "config", environment)
    credentials = try Self.section([name], of: credentialsPath)
    // The default profile may be written in both ways, and the longer one counts.
    config = try Self.section(name == "default" ? ["profile default", "default"] : ["profile \(name)"], of: configPath)
    if let chosen, credentials == nil, config == nil {
      throw .credentials(
        reason:
          "AWS_PROFILE is '\(chosen)', and there is no such profile: neither [\(chosen)] in \(credentialsPath) nor"
          + " \(chosen == "default" ? "[default]" : "[profile \(chosen)]") in \(configPath)")
    }
    self.name = name
    self.credentialsPath = credentialsPath
  }

  private static func path(_ variable: String, _ file: String, _ environment: [String: String]) -> String {
    let home = environment.nonEmpty("HOME") ?? ""
    guard let path = environment.nonEmpty(variable) else { return home + "/.aws/" + file }
    return path.hasPrefix("~/") ? home + path.dropFirst() : path
  }

  private static func section(_ names: [String], of path: String) throws(ObjectStoreError) -> Section? {
    let bytes: [UInt8]
    // The limit is far above what people write, and keeps a wrong path from filling the memory.
    do { bytes = try SequentialFile(path).readAll(limit: 4 << 20) } catch {
      if error.kind == .missing { return nil }
      throw .storage(error)
    }
    let sections = parse(String(decoding: bytes, as: UTF8.self))
    for name in names {
      if let values = sections[name] { return Section(source: "\(path) [\(name)]", values: values) }
    }
    return nil
  }

  /// The sections of a file, by their names. A section that comes twice is one; of two values the last one counts.
  static func parse(_ text: String) -> [String: [String: String]] {
    var sections: [String: [String: String]] = [:]
    var current: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let content = line.trimmingBlanks
      if content.isEmpty || content.hasPrefix("#") || content.hasPrefix(";") { continue }
      if content.hasPrefix("["), let end = content.firstIndex(of: "]") {
        // Several blanks between `profile` and its name are one.
        let name = content[content.index(after: content.startIndex)..<end].split { $0 == " " || $0 == "\t" }
          .joined(separator: " ")
        current = name
        sections[name, default: [:]] = sections[name] ?? [:]
        continue
      }
      // Values below values, as those of `s3 =`, are indented.
      guard let current, line.first?.isWhitespace == false, let equals = content.firstIndex(of: "=") else { continue }
      let key = content[..<equals].trimmingBlanks.lowercased()
      sections[current]?[key] = String(content[content.index(after: equals)...].trimmingBlanks)
    }
    return sections
  }
}

extension Substring {
  /// The text without blanks at its ends.
  fileprivate var trimmingBlanks: Substring {
    var text = self
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text
  }
}

extension [String: String] {
  /// A value that is there and not empty.
  func nonEmpty(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
