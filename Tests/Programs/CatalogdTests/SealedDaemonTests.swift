import Foundation
import Testing

/// The real daemon and sealed users.
@Suite struct SealedDaemonTests {
  private let folder: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("sealed-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try "id,barcode,name\n1,4006381333931,a secret name\n".write(
      toFile: folder + "/rows.csv", atomically: true, encoding: .utf8)
    try putKey(1)
  }

  private func remove() { try? FileManager.default.removeItem(atPath: folder) }

  private func putKey(_ byte: UInt8) throws {
    try Data([UInt8](repeating: byte, count: 32)).write(to: URL(fileURLWithPath: folder + "/key"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/key")
  }

  private func configuration(_ more: String = "") -> String {
    """
    {"root": "\(folder)/root", "user": "ana", "http": {"enabled": false}, "doubleScanMilliseconds": 0,
     "inputs": {"names": ["stdin"], "stdin": {"kind": "stdin"}}, "sealing": {"keyFile": "\(folder)/key"\(more)}}
    """
  }

  @discardableResult
  private func catalogctl(_ arguments: String...) throws -> (code: Int32, words: String) {
    let process = Process()
    let program = URL(fileURLWithPath: RunningDaemon.program).deletingLastPathComponent()
    process.executableURL = program.appendingPathComponent("catalogctl")
    process.arguments = arguments + ["--root", folder + "/root", "--user", "ana"]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let words = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, words)
  }

  @Test func `a user is sealed while the daemon runs, and a wrong key is mended without a restart`() throws {
    defer { remove() }
    let daemon = try RunningDaemon(configuration: configuration())
    _ = try daemon.log.wait(for: "input opened")
    let imported = try catalogctl("import", folder + "/rows.csv")
    #expect(imported.code == 0, "\(imported.words)")
    try daemon.say("4006381333931\n")
    _ = try daemon.output.wait(for: "\"match\":\"exact\"")
    let sealed = try catalogctl("seal", "--key-file", folder + "/key")
    #expect(sealed.code == 0, "\(sealed.words)")
    try daemon.say("4006381333931\n")
    _ = try daemon.output.wait(for: "a secret name", skipping: 1)
    // It goes on with the key that it has read, and says so.
    try putKey(2)
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "key_wrong")
    try daemon.say("4006381333931\n")
    _ = try daemon.output.wait(for: "a secret name", skipping: 2)
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
    // One that starts with it answers that no key opens the stores, until the file is put right.
    let second = try RunningDaemon(configuration: configuration())
    _ = try second.log.wait(for: "key_wrong")
    try second.say("4006381333931\n")
    #expect(try second.output.wait(for: "4006381333931").contains("another key"))
    let check = try RunningDaemon(["--check-config"], configuration: configuration(), hasInput: false)
    #expect(check.end() == 0)
    _ = try check.log.wait(for: "another key")
    try putKey(1)
    second.signal(SIGHUP)
    _ = try second.log.wait(for: "problem ended")
    try second.say("4006381333931\n")
    _ = try second.output.wait(for: "a secret name")
    second.signal(SIGTERM)
    #expect(second.end() == 0)
    let log = (daemon.log.all + second.log.all).joined()
    #expect(!log.contains("secret name"))
  }

  @Test func `a file that is put right is found without a signal`() throws {
    defer { remove() }
    try catalogctl("import", folder + "/rows.csv")
    #expect(try catalogctl("seal", "--key-file", folder + "/key").code == 0)
    try FileManager.default.moveItem(atPath: folder + "/key", toPath: folder + "/elsewhere")
    let daemon = try RunningDaemon(configuration: configuration())
    #expect(try daemon.log.wait(for: "key_unavailable").contains("no such file"))
    try FileManager.default.moveItem(atPath: folder + "/elsewhere", toPath: folder + "/key")
    _ = try daemon.log.wait(for: "problem ended")
    try daemon.say("4006381333931\n")
    _ = try daemon.output.wait(for: "a secret name")
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  @Test func `a credential of systemd is found, and two keys are refused`() throws {
    defer { remove() }
    try catalogctl("import", folder + "/rows.csv")
    #expect(try catalogctl("seal", "--key-file", folder + "/key").code == 0)
    let credentials = folder + "/credentials"
    try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: folder + "/key", toPath: credentials + "/shelfmark.key")
    // So systemd gives a service access to it.
    try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: credentials + "/shelfmark.key")
    let plain = configuration().replacingOccurrences(of: #", "sealing": {"keyFile": "\#(folder)/key"}"#, with: "")
    let named = configuration().replacingOccurrences(
      of: folder + "/key\"", with: "$CREDENTIALS_DIRECTORY/shelfmark.key\"")
    #expect(!plain.contains("sealing"))
    for text in [plain, named] {
      let daemon = try RunningDaemon(configuration: text, environment: ["CREDENTIALS_DIRECTORY": credentials])
      try daemon.say("4006381333931\n")
      _ = try daemon.output.wait(for: "a secret name")
      daemon.signal(SIGTERM)
      #expect(daemon.end() == 0)
    }
    let both = try RunningDaemon(
      configuration: configuration(", \"keyCommand\": \"cat key\""), hasInput: false)
    #expect(both.end() == 65)
    _ = try both.log.wait(for: "cannot be set together with sealing.keyFile")
  }

  @Test func `a new user is sealed from the first byte on, and without a key there is none`() throws {
    defer { remove() }
    let daemon = try RunningDaemon(configuration: configuration(", \"newUsers\": true"))
    _ = try daemon.log.wait(for: "input opened")
    #expect(try catalogctl("import", folder + "/rows.csv", "--key-file", folder + "/key").code == 0)
    try daemon.say("4006381333931\nno-such-code\n")
    _ = try daemon.output.wait(for: "a secret name")
    _ = try daemon.output.wait(for: "no-such-code")
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder + "/root/users")
    #expect(names.contains("ana/user.keys") && names.contains("ana/documents.log"))
    for name in names {
      let data = FileManager.default.contents(atPath: folder + "/root/users/" + name) ?? Data()
      for text in ["secret", "4006381333931", "no-such-code"] {
        #expect(data.range(of: Data(text.utf8)) == nil, "\(name)")
      }
    }
    try FileManager.default.removeItem(atPath: folder + "/root")
    try FileManager.default.removeItem(atPath: folder + "/key")
    let refused = try RunningDaemon(configuration: configuration(", \"newUsers\": true"), hasInput: false)
    #expect(refused.end() == 66)
    #expect(try refused.log.wait(for: "cannot go on").contains("no such file"))
    #expect(!FileManager.default.fileExists(atPath: folder + "/root/users"))
  }
}
