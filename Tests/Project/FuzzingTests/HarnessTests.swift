import Foundation
import RandomTestSupport
import Testing

/// What `scripts/fuzz` does with coverage and AddressSanitizer, in short and without both: a debug build of the harnesses
/// takes each kept input, and inputs that were made of them. A finding ends the process; the file that the output names
/// has the input.
@Suite(.serialized) struct HarnessTests {
  private static let fuzzing = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Fuzzing").standardizedFileURL

  /// The kept inputs of a harness, in the order of their names.
  private static func inputs(in folder: String, of harness: Harness) throws -> [[UInt8]] {
    let directory = fuzzing.appending(path: "\(folder)/\(harness.name)").path
    guard FileManager.default.fileExists(atPath: directory) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: directory).sorted().map { name in
      [UInt8](try Data(contentsOf: URL(filePath: directory + "/" + name)))
    }
  }

  @Test(arguments: Harness.all.map(\.name))
  func `a harness takes what is kept, and what is made of it`(name: String) throws {
    let harness = try #require(Harness.named(name))
    let kept = try Self.inputs(in: "Corpus", of: harness)
    let found = try Self.inputs(in: "Found", of: harness)
    let file = FileManager.default.temporaryDirectory.appending(path: "shelfmark-harness-\(name)-\(getpid())")
    print("\(name): if the process ends here, \(file.path) has the input")
    func run(_ input: [UInt8]) throws {
      try Data(input).write(to: file)
      harness.run(input)
    }
    for input in kept + found { try run(input) }
    var generator = SeededGenerator(for: "FuzzingTests.\(name)")
    for _ in 0..<100 * depth { try run(Self.altered(kept, harness.maximumLength, &generator)) }
    try FileManager.default.removeItem(at: file)
  }

  /// An input with one to six changes, or without any kept inputs a random one.
  private static func altered(_ kept: [[UInt8]], _ limit: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    guard var input = kept.randomElement(using: &generator) else {
      return generator.bytes(.random(in: 0...limit, using: &generator))
    }
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      let place = Int.random(in: 0...input.count, using: &generator)
      let end = min(input.count, place + (1 << Int.random(in: 0...6, using: &generator)))
      switch Int.random(in: 0..<6, using: &generator) {
      case 0 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 1 where place < input.count:
        input[place] = [0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x20, 0x22].randomElement(using: &generator) ?? 0
      case 2: input.removeSubrange(place..<end)
      case 3: input.insert(contentsOf: input[place..<end], at: Int.random(in: 0...input.count, using: &generator))
      case 4: input.insert(contentsOf: generator.bytes(.random(in: 1...8, using: &generator)), at: place)
      default:
        // The end of another input behind the beginning of this one.
        let other = kept.randomElement(using: &generator) ?? []
        input = Array(input[..<place] + other.dropFirst(Int.random(in: 0...other.count, using: &generator)))
      }
    }
    return Array(input.prefix(limit))
  }
}
