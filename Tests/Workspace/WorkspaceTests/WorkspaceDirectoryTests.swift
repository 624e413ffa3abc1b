import Foundation
import LogStore
import Testing

@testable import Workspace

@Suite struct WorkspaceDirectoryTests {
  /// Runs `body` with a root that does not exist yet, and removes it afterwards.
  private func withRoot(_ body: (WorkspaceDirectory, String) throws -> Void) throws {
    let root = NSTemporaryDirectory() + "workspace-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: root) }
    try body(WorkspaceDirectory(root: root), root)
  }

  @Test func `reading creates nothing`() throws {
    try withRoot { workspace, root in
      #expect(try workspace.currentUser() == nil)
      #expect(try workspace.users().isEmpty)
      #expect(try workspace.catalogue(of: "alice") == nil)
      #expect(try workspace.byteCount(of: "alice") == 0)
      try workspace.signOut()
      #expect(!FileManager.default.fileExists(atPath: root))
    }
  }

  @Test func `who signs in is current until someone else does, or signs out`() throws {
    try withRoot { workspace, _ in
      try workspace.signIn("alice")
      #expect(try workspace.currentUser() == "alice")
      try workspace.signIn("用户 1")
      #expect(try workspace.currentUser() == "用户 1")
      try workspace.signOut()
      #expect(try workspace.currentUser() == nil)
      #expect(try workspace.users() == ["alice", "用户 1"])
    }
  }

  @Test func `ids that look alike are users of their own`() throws {
    try withRoot { workspace, root in
      for id in UserDirectoryTests.ids { try workspace.signIn(id) }
      let users = try workspace.users()
      #expect(
        users.map { Array($0.utf8) }
          == UserDirectoryTests.ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
      #expect(try FileManager.default.contentsOfDirectory(atPath: root).sorted() == ["default", "users"])
    }
  }

  @Test(arguments: ["", String(repeating: "x", count: 256)])
  func `an empty or too long id is refused`(id: String) throws {
    try withRoot { workspace, root in
      #expect(throws: WorkspaceError.self) { try workspace.signIn(id) }
      #expect(throws: WorkspaceError.self) { try workspace.makeCatalogue(of: id) }
      #expect(!FileManager.default.fileExists(atPath: root))
    }
  }

  @Test func `a user's directory that is a link is not followed`() throws {
    try withRoot { workspace, root in
      try workspace.signIn("alice")
      let elsewhere = root + "-elsewhere"
      try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: elsewhere) }
      try FileManager.default.createSymbolicLink(atPath: root + "/users/bob", withDestinationPath: elsewhere)
      #expect(throws: WorkspaceError.self) { try workspace.makeCatalogue(of: "bob") }
      #expect(throws: WorkspaceError.self) { try workspace.catalogue(of: "bob") }
    }
  }

  @Test func `a link beside a catalogue has no bytes, and is no fault`() throws {
    try withRoot { workspace, root in
      try workspace.signIn("alice")
      _ = try Data(count: 7).write(to: URL(fileURLWithPath: root + "/users/alice/file"))
      for target in ["file", "nowhere"] {
        try? FileManager.default.removeItem(atPath: root + "/users/alice/catalogue.new")
        try FileManager.default.createSymbolicLink(
          atPath: root + "/users/alice/catalogue.new", withDestinationPath: target)
        #expect(try workspace.byteCount(of: "alice") == 7)
      }
    }
  }

  @Test func `directories have mode 0700 and files 0600 whatever the umask`() throws {
    let old = umask(0)
    defer { umask(old) }
    try withRoot { workspace, root in
      try workspace.signIn("alice")
      for path in ["", "/default", "/users", "/users/alice"] {
        let mode =
          try FileManager.default.attributesOfItem(atPath: root + path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o700, "\(path)")
      }
      let mode = try FileManager.default.attributesOfItem(atPath: root + "/default/settings.log")[
        .posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o600)
    }
  }
}
