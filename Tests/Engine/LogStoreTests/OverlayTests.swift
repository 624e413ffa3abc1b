import Platform
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Stores that a lower layer of an overlay has, as those that are part of a container's image. Their files are copied
/// when they are first written, and mappings of before the copy do not show what is written.
@Suite(.enabled(if: OverlayMount.isPossible, Comment(rawValue: OverlayMount.condition)))
struct OverlayTests {
  /// An overlay whose lower layer has the store `s` with `count` commits.
  private func bakedStore(_ lower: OverlayMount.Lower, _ count: Int) throws -> (OverlayMount, StoreLocation) {
    let mount = try OverlayMount(lower) { directory in
      let writer = try StoreWriter(StoreLocation.test(directory, name: "s"), schema: TestSchema.schema)
      for _ in 0..<count { _ = try NumberedStore.commit(writer) }
      writer.close()
    }
    return (mount, StoreLocation.test(mount.directory, name: "s"))
  }

  @Test(arguments: OverlayMount.Lower.allCases, [Duration.zero, .seconds(3600)])
  func `a reader of a baked store sees what another writes, across commits, compactions and generations`(
    lower: OverlayMount.Lower, refreshInterval: Duration
  ) throws {
    let (mount, location) = try bakedStore(lower, 2)
    defer { withExtendedLifetime(mount) {} }
    let reader = try #require(try StoreReader.open(location, refreshInterval: refreshInterval))
    let baked = reader.snapshot
    #expect(try !reader.refresh() && baked.sequence == 2)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    func step(_ next: Snapshot?) throws {
      let next = try #require(next)
      try #require(try reader.refresh() || reader.snapshot.sequence == next.sequence)
      #expect(reader.snapshot.sequence == next.sequence && reader.snapshot.generation == next.generation)
      try NumberedStore.check(reader.snapshot)
      #expect(try !reader.refresh())
    }
    if refreshInterval > .zero, lower == .elsewhere {
      // The copy may be another file, which a reader notices when it looks at the directory again.
      _ = try NumberedStore.commit(writer)
      return
    }
    for _ in 0..<3 { try step(NumberedStore.commit(writer)) }
    try step(NumberedStore.commit(writer, isGeneration: true))
    try step(NumberedStore.commit(writer))
    try step(writer.compact())
    try step(NumberedStore.commit(writer))
    // The mapping of the lower file shows what it had.
    try NumberedStore.check(baked)
  }

  @Test(arguments: OverlayMount.Lower.allCases)
  func `a generation that replaces a baked one is seen at once`(lower: OverlayMount.Lower) throws {
    let (mount, location) = try bakedStore(lower, 1)
    defer { withExtendedLifetime(mount) {} }
    let reader = try #require(try StoreReader.open(location))
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try NumberedStore.commit(writer)
    _ = try writer.compact()
    #expect(try reader.refresh())
    #expect(reader.snapshot.generation == 2)
    try NumberedStore.check(reader.snapshot)
  }

  @Test func `the last commit of a baked file that was replaced is at least the one that was seen`() throws {
    let (mount, location) = try bakedStore(.beside, 1)
    defer { withExtendedLifetime(mount) {} }
    let baked = try #require(try StoreReader.open(location)).snapshot
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try NumberedStore.commit(writer)
    _ = try NumberedStore.commit(writer, isGeneration: true)
    try NumberedStore.check(try baked.lastOfFile())
  }

  @Test func `a writer that rests goes on in the copy`() throws {
    let (mount, location) = try bakedStore(.beside, 1)
    defer { withExtendedLifetime(mount) {} }
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    for _ in 0..<3 {
      writer.rest()
      #expect(try writer.resume(lockTimeout: .zero))
      try NumberedStore.check(try NumberedStore.commit(writer))
    }
  }

  @Test func `only files of an overlay are read to look for commits`() throws {
    let (mount, location) = try bakedStore(.beside, 1)
    #expect(try #require(try StoreReader.open(location)).snapshot.log.isCopiedOnWrite)
    withExtendedLifetime(mount) {}
    let temporary = try TemporaryDirectory()
    if try temporary.directory.fileSystem().magic == FileSystem.overlay { return }
    let file = try #require(try temporary.directory.open("a", .create))
    #expect(!file.isCopiedOnWrite)
  }
}
