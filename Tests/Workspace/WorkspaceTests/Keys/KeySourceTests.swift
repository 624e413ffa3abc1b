import Foundation
import Sealing
import Testing

@testable import Workspace

/// Where keys come from.
@Suite struct KeySourceTests {
  private final class Place {
    let path = NSTemporaryDirectory() + "key-sources-" + UUID().uuidString
    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws -> String {
      let file = path + "/" + name
      try Data(bytes).write(to: URL(fileURLWithPath: file))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
      return file
    }
  }

  private static let key = (0..<32).map { UInt8($0 * 7 % 256) }

  private func bytes(_ material: KeyMaterial) -> [UInt8] {
    switch material {
    case .raw(let secret), .passphrase(let secret): unsafe secret.withBytes { unsafe Array($0) }
    }
  }

  @Test func `a key file has exactly 32 bytes`() throws {
    let place = try Place()
    let material = try KeySource.keyFile(place.file("key", Self.key)).read()
    #expect(material.kind == .raw && bytes(material) == Self.key)
    for count in [0, 1, 31, 33, 64] {
      let path = try place.file("bad", [UInt8](repeating: 65, count: count))
      let error = #expect(throws: KeyError.self) { try KeySource.keyFile(path).read() }
      guard case .noKeyInside(path, let reason) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.contains(count > 32 ? "more" : "\(count)") && !reason.contains("AAAA"))
      #expect(error?.exitStatus == .data)
    }
  }

  @Test func `a key that others may read or change is refused, and a credential may have a group`() throws {
    let place = try Place()
    for mode in [0o600, 0o400, 0o700] { _ = try KeySource.keyFile(place.file("key", Self.key, mode: mode)).read() }
    for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o610] {
      let error = #expect(throws: KeyError.self) {
        try KeySource.keyFile(place.file("key", Self.key, mode: mode)).read()
      }
      #expect(error?.exitStatus == .permission && "\(error!)".contains("mode \(String(mode, radix: 8))"))
    }
    for mode in [0o400, 0o440] { _ = try KeySource.credential(place.file("key", Self.key, mode: mode)).read() }
    for mode in [0o444, 0o460, 0o450] {
      #expect(throws: KeyError.self) { try KeySource.credential(place.file("key", Self.key, mode: mode)).read() }
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func `a key of another user is refused`() throws {
    let place = try Place()
    let foreign = try place.file("key", Self.key)
    try #require(unsafe chown(foreign, 12345, 12345) == 0)
    let error = #expect(throws: KeyError.self) { try KeySource.keyFile(foreign).read() }
    #expect(error?.exitStatus == .permission && "\(error!)".contains("user 12345"))
  }

  @Test func `a link, a directory, a pipe and nothing are no key files`() throws {
    let place = try Place()
    let link = place.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.file("key", Self.key))
    #expect(throws: KeyError.self) { try KeySource.keyFile(link).read() }
    let pipe = place.path + "/pipe"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    for path in [place.path, pipe, place.path + "/missing", "/dev/null"] {
      let error = #expect(throws: KeyError.self) { try KeySource.keyFile(path).read() }
      #expect(error?.exitStatus == .noInput, "\(path)")
    }
  }

  @Test func `a passphrase is the first line`() throws {
    let place = try Place()
    for (text, passphrase) in [
      ("correct horse", "correct horse"), ("correct horse\n", "correct horse"), ("a b \nsecond\n", "a b "),
    ] {
      let material = try KeySource.passphraseFile(place.file("phrase", Array(text.utf8))).read()
      #expect(material.kind == .passphrase && bytes(material) == Array(passphrase.utf8))
    }
    for bytes in [[], Array("\nsecond".utf8), [UInt8](repeating: 65, count: 4097)] {
      let path = try place.file("phrase", bytes)
      #expect(throws: KeyError.self) { try KeySource.passphraseFile(path).read() }
    }
  }

  @Test func `a credential is found where systemd puts it`() throws {
    let place = try Place()
    #expect(KeySource.credential(in: nil) == nil && KeySource.credential(in: "") == nil)
    #expect(KeySource.credential(in: place.path) == nil)
    let path = try place.file(KeySource.credentialName, Self.key)
    #expect(KeySource.credential(in: place.path) == .credential(path))
  }

  @Test func `a key command prints 32 bytes, hexadecimal digits or base64`() throws {
    let place = try Place()
    let file = try place.file("key", Self.key)
    let hex = Self.key.map { String(format: "%02x", $0) }.joined()
    let base64 = Data(Self.key).base64EncodedString()
    for command in [
      "cat \(file)", "cat \(file); echo", "echo \(hex)", "printf %s \(hex.uppercased())", "echo \(base64)",
      "printf '%s\\r\\n' \(base64.dropLast())", "echo \(base64.replacing("+", with: "-").replacing("/", with: "_"))",
    ] {
      #expect(try bytes(KeySource.command(command).read()) == Self.key, "\(command)")
    }
  }

  @Test func `a key command that prints no key is refused, and nothing that it printed is told`() throws {
    for command in [
      "true", "echo secretsecret", "head -c 31 /dev/zero", "head -c 34 /dev/zero",
      "echo \(String(repeating: "g", count: 64))",
      // 32 bytes have 256 bits, so the last digit of base64 has two that are zero.
      "echo \(String(repeating: "A", count: 42))B=", "echo \(String(repeating: "a", count: 44))",
    ] {
      let error = #expect(throws: KeyError.self, "\(command)") { try KeySource.command(command).read() }
      #expect(error?.exitStatus == .data && !"\(error!)".contains("secretsecret"), "\(command)")
    }
  }

  @Test func `a key command that fails, prints without end or takes too long is an error`() throws {
    for (command, word) in [
      ("exit 3", "exit code 3"), ("kill -9 $$", "signal 9"), ("yes", "more than a key"),
      ("no-such-program-here 2>/dev/null", "exit code 127"), ("echo secretsecret; exit 1", "exit code 1"),
    ] {
      let error = #expect(throws: KeyError.self) { try KeySource.command(command).read() }
      #expect("\(error!)".contains(word) && !"\(error!)".contains("secretsecret"), "\(error!)")
      #expect(error?.exitStatus == .unavailable)
    }
    for command in ["exec sleep 60", "exec >&-; exec sleep 60"] {
      let start = ContinuousClock.now
      let error = #expect(throws: KeyError.self) {
        try SecretCommand.answer(of: command, timeout: .milliseconds(300))
      }
      #expect("\(error!)".contains("took longer") && ContinuousClock.now - start < .seconds(30))
    }
  }

  @Test func `a key command gets no input`() throws {
    let hex = Self.key.map { String(format: "%02x", $0) }.joined()
    #expect(try bytes(KeySource.command("cat; echo \(hex)").read()) == Self.key)
  }
}
