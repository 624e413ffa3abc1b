import Foundation
import Testing

/// Documentation/Architecture.md against the code, and the documents against each other.
@Suite struct ArchitectureTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// A row of the tables.
  private struct Module {
    let group: Substring
    let name: String
    let imports: Set<String>

    var path: String { "Sources/\(group)/\(name)" }
  }

  /// The modules of the tables, in their order.
  private static func modules() throws -> [Module] {
    var group: Substring = ""
    return try text("Documentation/Architecture.md").split(separator: "\n").compactMap { line in
      if line.hasPrefix("### ") { group = line.dropFirst(4) }
      guard let row = line.wholeMatch(of: /\| `([A-Za-z]+)` \| (.+) \| (.+) \|/) else { return nil }
      return Module(
        group: group, name: String(row.1), imports: Set(row.3.matches(of: /`([A-Za-z]+)`/).map { String($0.1) }))
    }
  }

  /// The folders two levels below a folder, such as `Base/Bytes`.
  private static func folders(of top: String) throws -> Set<String> {
    let manager = FileManager.default
    let url = root.appending(path: top)
    return Set(
      try manager.contentsOfDirectory(atPath: url.path).flatMap { group in
        try manager.contentsOfDirectory(atPath: url.appending(path: group).path).map { group + "/" + $0 }
      })
  }

  /// What the files of a module import of this package.
  private static func imports(of module: Module, among modules: Set<String>) throws -> Set<String> {
    let files = FileManager.default.enumerator(at: root.appending(path: module.path), includingPropertiesForKeys: nil)
    var names: Set<String> = []
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let source = try String(contentsOf: file, encoding: .utf8)
      // A debug build takes long for a regular expression, so it is asked of statements at the margin only.
      for line in source.utf8.split(separator: UInt8(ascii: "\n")) where Self.mayBeImport(line.first) {
        let line = Substring(line)
        let pattern = /(?:@\w+(?:\(\w+\))? +)*(?:(?:public|package|internal|fileprivate|private) +)?import +(\w+)/
        if let found = line.prefixMatch(of: pattern) { names.insert(String(found.1)) }
      }
    }
    return names.intersection(modules).subtracting([module.name])
  }

  /// Whether a line that begins with this character may be an import.
  private static func mayBeImport(_ first: UInt8?) -> Bool {
    first.map { $0 == UInt8(ascii: "@") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ?? false
  }

  @Test func `each module lies in its group, imports what its row says, and only modules below it`() throws {
    let table = try Self.modules()
    #expect(Set(table.map { "\($0.group)/\($0.name)" }) == (try Self.folders(of: "Sources")))
    let names = Set(table.map(\.name))
    #expect(names.count == table.count)
    for (index, module) in table.enumerated() {
      #expect(try Self.imports(of: module, among: names) == module.imports, "the row of \(module.name)")
      let upward = module.imports.subtracting(table[(index + 1)...].map(\.name))
      #expect(upward.isEmpty, "\(module.name) imports upward: \(upward)")
    }
  }

  @Test func `tests lie in the group of their module`() throws {
    let groups = Dictionary(uniqueKeysWithValues: try Self.modules().map { ($0.name, String($0.group)) })
    for folder in try Self.folders(of: "Tests") {
      let parts = folder.split(separator: "/").map(String.init)
      guard parts[1].hasSuffix("Tests"), let group = groups[String(parts[1].dropLast(5))] else { continue }
      #expect(parts[0] == group, "Tests/\(folder) are tests of a module in Sources/\(group)")
    }
  }

  @Test func `the package of the fuzzers builds each module with what it imports`() throws {
    let manifest = try Self.text("Fuzzing/Package.swift")
    let targets = manifest.matches(of: /arget\(\s*name: "(\w+)"(?:,\s*dependencies: \[([^\]]*)\])?/)
      .map { (name: String($0.1), dependencies: Set(($0.2 ?? "").matches(of: /\w+/).map { String($0.0) })) }
    let modules = try Self.modules().filter { module in targets.contains { $0.name == module.name } }
    #expect(modules.count > 20)
    for target in targets {
      guard let module = modules.first(where: { $0.name == target.name }) else { continue }
      let found = try Self.imports(of: module, among: Set(modules.map(\.name)))
      #expect(found.isSubset(of: target.dependencies), "\(target.name) lacks \(found.subtracting(target.dependencies))")
    }
  }

  /// FoundationEssentials has no data for locales, and all of Foundation would add 40 MB of ICU to the package.
  @Test func `nothing asks for a locale, a calendar or a time zone of Foundation`() throws {
    let whole = /\bimport (?:\w+ )?Foundation\b/
    let types = /\b(?:TimeZone|Calendar|Locale|\w*Formatter|ISO8601FormatStyle|NSRegularExpression)\b/
    let calls = /\.formatted\(|localized(?!Description)/
    let files = FileManager.default.enumerator(
      at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil)
    var count = 0
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      count += 1
      let bytes = try Data(contentsOf: file)
      // Most files have none of the words, and in a debug build a regular expression takes long.
      let words = [
        "Foundation", "TimeZone", "Calendar", "Locale", "Formatter", "FormatStyle", "NSReg", "ormatted(", "localized",
      ]
      guard words.contains(where: { bytes.range(of: Data($0.utf8)) != nil }) else { continue }
      var previous: Substring = ""
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        defer { previous = line }
        // A statement in SQL names its own.
        if line.drop(while: { $0 == " " }).hasPrefix("//") || line.contains("SET TimeZone") { continue }
        #expect(
          line.firstMatch(of: whole) == nil || previous == "#else",
          "\(file.lastPathComponent) imports Foundation where there is FoundationEssentials")
        let isFree = line.firstMatch(of: types) == nil && line.firstMatch(of: calls) == nil
        #expect(isFree, "\(file.lastPathComponent): \(line)")
      }
    }
    #expect(count > 400)
  }

  /// The documents that are not DocC's.
  private static func documents() throws -> [String] {
    let top = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".md") }
    let folders = [
      "Documentation", "Documentation/Format", "Documentation/Operations", "Examples", "Benchmarks", "Fuzzing",
    ]
    return try top
      + folders.flatMap { folder in
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
          .filter { $0.hasSuffix(".md") }.map { folder + "/" + $0 }
      }
  }

  @Test func `each link between documents leads to a file, and to a heading of it`() throws {
    for document in try Self.documents() {
      let folder = (document as NSString).deletingLastPathComponent
      for link in try Self.text(document).matches(of: /\]\(([^)\s]+)\)/) {
        let target = String(link.1)
        if target.contains("://") { continue }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let path = parts[0].isEmpty ? document : ((folder + "/" + parts[0]) as NSString).standardizingPath
        let file = Self.root.appending(path: path.hasPrefix("/") ? String(path.dropFirst()) : path)
        #expect(FileManager.default.fileExists(atPath: file.path), "\(document) links to \(target)")
        guard parts.count == 2, file.pathExtension == "md" else { continue }
        let headings = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("#") }
        #expect(headings.contains { Self.anchor($0) == parts[1] }, "\(document) links to \(target)")
      }
    }
  }

  /// The anchor of a heading: its words in lower case with hyphens between them.
  private static func anchor(_ heading: Substring) -> String {
    let words = heading.drop { $0 == "#" || $0 == " " }.lowercased()
    return words.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
  }

  @Test func `the README fits into 200 lines of 120 columns`() throws {
    let lines = try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 200)
    for line in lines { #expect(line.count <= 120, "\(line)") }
  }
}
