import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

private let isSuperuser = geteuid() == 0

/// What is said about the place of the stores: once, on standard error, whatever the command prints.
@Suite struct WarningCommandTests {
  @Test(.enabled(if: isSuperuser, "only the superuser gives files away"))
  func `a root with stores of several users is told once, and the output stays what it is`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(2))])
    let commands = [
      ["dump"], ["stat", "--json"], ["whoami"], ["users", "--json"], ["verify"], ["scan", "c0", "--json"],
    ]
    let before = try commands.map { try root.run($0) }
    #expect(before.allSatisfy { $0.words.isEmpty })
    try FileManager.default.setAttributes([.ownerAccountID: 4711], ofItemAtPath: root.path)
    for (command, quiet) in zip(commands, before) {
      let run = try root.run(command)
      #expect(run.code == quiet.code && run.output == quiet.output, "\(command)")
      #expect(run.words.split(separator: "\n").count == 1, "\(command): \(run.words)")
      #expect(run.words.hasPrefix("catalogctl: warning: \(root.path)/default belongs to user 0"), "\(run.words)")
      #expect(run.words.contains("chown -R 4711 \(root.path)/default"), "\(run.words)")
    }
  }

  @Test(.enabled(if: !isSuperuser, "the superuser owns the system's directories"))
  func `a root of the system's is somebody else's`() throws {
    let run = try TestRoot().run("whoami", "--root", "/usr")
    #expect(run.code == 1 && run.output.isEmpty)
    #expect(run.words.hasPrefix("catalogctl: warning: /usr belongs to user 0"), "\(run.words)")
  }
}
