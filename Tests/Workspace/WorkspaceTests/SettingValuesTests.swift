import Foundation
import LogStore
import Testing

@testable import Workspace

/// Who waits for a setting to change.
@Suite(.timeLimit(.minutes(10))) struct SettingValuesTests {
  private let root = TemporaryRoot()

  private func settings(_ interval: Duration = .milliseconds(5)) -> Settings {
    root.directory.settings(of: "ana", StoreAccess(), pollInterval: interval)
  }

  @Test func `a value is told at once, and after each change by this or another process`() async throws {
    let (ours, theirs) = (settings(), settings())
    let level = Setting("level", default: 0)
    var values = ours.values(of: level).makeAsyncIterator()
    #expect(try await values.next() == 0)
    try ours.set(level, to: 1)
    #expect(try await values.next() == 1)
    try theirs.set(level, to: 2)
    #expect(try await values.next() == 2)
    // Other settings are nothing to tell, nor is the same value once more.
    try theirs.set(Setting("other", default: 0), to: 9)
    try theirs.set(level, to: 2)
    try theirs.set(level, to: 3)
    #expect(try await values.next() == 3)
    // A compaction has another file and no other value.
    let location = try #require(try root.directory.store("settings", of: "ana"))
    let writer = try StoreWriter(location, schema: SettingsTable.schema, lockTimeout: .seconds(1))
    _ = try writer.compact()
    writer.close()
    try theirs.unset(level)
    #expect(try await values.next() == 0)
    ours.close()
    #expect(try await values.next() == nil)
  }

  @Test func `a change by the own process is told without waiting for a look`() async throws {
    // An hour between two looks: what is told was told by the change.
    let settings = settings(.seconds(3600))
    var values = settings.values(of: .owner).makeAsyncIterator()
    #expect(try await values.next() == "")
    for owner in ["ana", "bob"] {
      try settings.set(.owner, to: owner)
      #expect(try await values.next() == owner)
    }
  }

  @Test func `a value of another type is an error, and the sequence goes on behind it`() async throws {
    let (ours, theirs) = (settings(), settings())
    let level = Setting("level", default: 0)
    var values = ours.values(of: level).makeAsyncIterator()
    #expect(try await values.next() == 0)
    try theirs.set(Setting("level", default: ""), to: "high")
    do {
      _ = try await values.next()
      Issue.record("a text was taken for a number")
    } catch SettingsError.type {}
    try theirs.set(level, to: 5)
    #expect(try await values.next() == 5)
  }

  @Test func `a switch ends the sequences of the old user`() async throws {
    let workspace = try root.open()
    try workspace.signIn("ana")
    let settings = try workspace.stores().settings
    try settings.set(.owner, to: "ana")
    let told = Task {
      var owners: [String] = []
      for try await owner in settings.values(of: .owner) { owners.append(owner) }
      return owners
    }
    var values = settings.values(of: .owner).makeAsyncIterator()
    #expect(try await values.next() == "ana")
    try workspace.signIn("bob")
    try workspace.stores().settings.set(.owner, to: "bob")
    #expect(try await values.next() == nil)
    let owners = try await told.value
    #expect(owners == ["ana"] || owners.isEmpty)
  }
}
