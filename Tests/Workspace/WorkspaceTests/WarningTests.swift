import Foundation
import LogStore
import Storage
import Testing

@testable import Workspace

private let isSuperuser = PosixDirectory.effectiveUser == 0

/// What is said about the place of the stores.
@Suite struct WarningTests {
  @Test func `a warning for each foreign owner, for the outermost thing it has`() {
    let owners: [(path: String, owner: UInt32)] = [
      ("/r", 7), ("/r/default", 7), ("/r/users", 9), ("/r/x", 1), ("/r/y", 9),
    ]
    #expect(
      WorkspaceDirectory.warnings(owners, user: 1) == [
        .foreignOwner(path: "/r", owner: 7, user: 1), .foreignOwner(path: "/r/users", owner: 9, user: 1),
      ])
    #expect(WorkspaceDirectory.warnings([("/r", 0)], user: 0).isEmpty)
    #expect(WorkspaceDirectory.warnings([("/r", 5)], user: 0) == [.foreignOwner(path: "/r", owner: 5, user: 0)])
  }

  @Test func `a warning says where, what and what to do`() {
    let texts = [
      "\(Warning.foreignOwner(path: "/r", owner: 7, user: PosixDirectory.effectiveUser))",
      "\(Warning.fileSystem(path: "/r", name: "NFS"))",
    ]
    #expect(texts[0].contains("/r belongs to user 7") && texts[0].contains("run it as user 7"))
    #expect(!texts[0].contains("chown"))
    let roots = "\(Warning.foreignOwner(path: "/r", owner: 0, user: PosixDirectory.effectiveUser))"
    #expect(roots.hasSuffix("as root: chown \(PosixDirectory.effectiveUser) /r"))
    #expect(texts[1].contains("/r lies on NFS") && texts[1].contains("local disk"))
  }

  @Test func `a root of one's own gives none, whatever id is asked for, and looking creates nothing`() throws {
    let root = NSTemporaryDirectory() + "workspace-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: root) }
    let workspace = WorkspaceDirectory(root: root)
    let isOwner = { (warning: Warning) in if case .foreignOwner = warning { true } else { false } }
    #expect(!workspace.warnings(for: "u").contains(where: isOwner))
    #expect(!FileManager.default.fileExists(atPath: root))
    try workspace.signIn("u")
    for id in [nil, "u", "nobody", "", String(repeating: "x", count: 300), "../.."] {
      #expect(!workspace.warnings(for: id).contains(where: isOwner))
    }
  }

  @Test(.enabled(if: isSuperuser, "only the superuser gives files away"))
  func `a root, and a store in it, that somebody else owns is told`() throws {
    let root = NSTemporaryDirectory() + "workspace-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: root) }
    let workspace = WorkspaceDirectory(root: root)
    try workspace.signIn("u")
    func own(_ path: String, _ user: Int) throws {
      try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: root + path)
    }
    try own("/users/u", 4711)
    #expect(workspace.warnings(for: nil).isEmpty)
    #expect(workspace.warnings(for: "u") == [.foreignOwner(path: root + "/users/u", owner: 4711, user: 0)])
    try own("/default/settings.log", 4712)
    #expect(
      workspace.warnings(for: "u").map { "\($0)" }.filter { $0.contains("/default/settings.log belongs to user 4712") }
        .count == 1)
    // Root may work for the owner of the root directory, to whom its new files belong, and for nobody else.
    try own("", 4711)
    let mixed = workspace.warnings(for: "u").filter { if case .foreignOwner = $0 { true } else { false } }
    #expect(mixed.map { "\($0)" }.allSatisfy { $0.contains("chown -R 4711 \(root)/default") })
    #expect(mixed.count == 2)
    for path in ["/default", "/default/settings.log", "/users"] { try own(path, 4711) }
    #expect(!workspace.warnings(for: "u").contains { if case .foreignOwner = $0 { true } else { false } })
  }

  @Test(.enabled(if: !isSuperuser, "the superuser owns the system's directories"))
  func `a directory of the system's is somebody else's`() {
    #expect(
      WorkspaceDirectory(root: "/").warnings() == [
        .foreignOwner(path: "/", owner: 0, user: PosixDirectory.effectiveUser)
      ])
  }
}
