import Cryptography
import Foundation
import Testing

/// The path of the program; `nil` if it is not installed.
private let signify = ["/usr/bin/signify-openbsd", "/opt/homebrew/bin/signify"].first {
  FileManager.default.isExecutableFile(atPath: $0)
}

/// Keys and signatures that OpenBSD's signify reads and writes.
@Suite(.enabled(if: signify != nil, "signify-openbsd is not installed"))
struct SignifyOracleTests {
  /// A temporary folder.
  private final class Folder {
    let url: URL

    init() throws {
      url = FileManager.default.temporaryDirectory.appending(path: "shelfmark-signify-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: url.appending(path: name)) }

    func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url.appending(path: name))) }

    /// Runs signify in the folder; returns its exit code and what it says about an error.
    func run(_ arguments: String...) throws -> (code: Int32, words: String) {
      let process = Process()
      process.executableURL = URL(filePath: try #require(signify))
      process.arguments = arguments
      process.currentDirectoryURL = url
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      let words = Pipe()
      process.standardError = words
      try process.run()
      let data = try words.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
  }

  private static let messages: [[UInt8]] = [
    Array(#"{"sequence":1}"#.utf8), [], [0x0D, 0x0A, 0x00, 0xFF], [UInt8](repeating: 0x61, count: 100_000),
  ]

  @Test(arguments: messages.indices)
  func `signify verifies our signatures with our key`(index: Int) throws {
    let message = Self.messages[index]
    let folder = try Folder()
    let secret = try SignifySecretKey.new("shop")
    let signature = try secret.sign(message)
    try folder.write(Array(secret.publicKey.text.utf8), to: "key.pub")
    try folder.write(message, to: "catalogue.json")
    try folder.write(Array(signature.text.utf8), to: "detached.sig")
    try folder.write(signature.embedding(message), to: "embedded.sig")
    // The file of an embedded signature is a detached one too: signify reads its first two lines.
    for file in ["detached.sig", "embedded.sig"] {
      let run = try folder.run("-V", "-p", "key.pub", "-m", "catalogue.json", "-x", file)
      #expect(run.code == 0, "\(file): \(run.words)")
    }
    let run = try folder.run("-V", "-e", "-p", "key.pub", "-m", "extracted", "-x", "embedded.sig")
    #expect(run.code == 0, "\(run.words)")
    #expect(try folder.read("extracted") == message)
    // And it refuses another message, and another key.
    try folder.write(message + [0], to: "other.json")
    try folder.write(Array(try SignifySecretKey.new("shop").publicKey.text.utf8), to: "other.pub")
    for file in ["detached.sig", "embedded.sig"] {
      #expect(try folder.run("-V", "-p", "key.pub", "-m", "other.json", "-x", file).code != 0)
      #expect(try folder.run("-V", "-p", "other.pub", "-m", "catalogue.json", "-x", file).code != 0)
    }
  }

  @Test(arguments: messages.indices)
  func `signify signs with our secret key`(index: Int) throws {
    let message = Self.messages[index]
    let folder = try Folder()
    let secret = try SignifySecretKey.new("shop")
    try folder.write(Array(secret.text.utf8), to: "key.sec")
    try folder.write(message, to: "message")
    let run = try folder.run("-S", "-s", "key.sec", "-m", "message", "-x", "detached.sig")
    #expect(run.code == 0, "\(run.words)")
    let signature = try SignifySignature(folder.read("detached.sig"))
    #expect(try signature.isValid(of: message, key: secret.publicKey))
    #expect(try signature.bytes == secret.sign(message).bytes)
  }

  @Test(arguments: messages.indices)
  func `keys and signatures of signify are ours`(index: Int) throws {
    let message = Self.messages[index]
    let folder = try Folder()
    try folder.write(message, to: "message")
    let keys = try folder.run("-G", "-n", "-c", "our shop", "-p", "key.pub", "-s", "key.sec")
    #expect(keys.code == 0, "\(keys.words)")
    let secret = try SignifySecretKey(folder.read("key.sec"))
    let key = try SignifyPublicKey(folder.read("key.pub"))
    #expect(secret.publicKey == key && key.comment == "our shop public key")
    #expect(try Array(secret.text.utf8) == folder.read("key.sec") && Array(key.text.utf8) == folder.read("key.pub"))
    #expect(try folder.run("-S", "-s", "key.sec", "-m", "message", "-x", "detached.sig").code == 0)
    #expect(try SignifySignature(folder.read("detached.sig")).isValid(of: message, key: key))
    #expect(try folder.run("-S", "-e", "-s", "key.sec", "-m", "message", "-x", "embedded.sig").code == 0)
    let (signature, found) = try SignifySignature.embedded(in: folder.read("embedded.sig"))
    #expect(found == message)
    #expect(try signature.isValid(of: found, key: key))
    #expect(try signature.embedding(found) == folder.read("embedded.sig"))
  }
}
