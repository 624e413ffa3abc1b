import Foundation
import StoreTestSupport
import Testing

@testable import Storage

/// What a directory tells of its place.
@Suite struct FileSystemTests {
  @Test(
    arguments: [
      (0x6969, "NFS"), (0x517B, "SMB"), (0xFF53_4D42, "SMB"), (0xFE53_4D42, "SMB"), (0x0102_1997, "9P"),
      (0x6573_5546, "FUSE"), (0x5346_414F, "AFS"), (0x6B41_4653, "AFS"), (0x7375_7245, "Coda"), (0x00C3_6400, "Ceph"),
      (0x0BD0_0BD0, "Lustre"),
    ] as [(UInt32, String)])
  func `a file system behind a network or another program is known by its number`(magic: UInt32, name: String) {
    #expect(FileSystem.unsuitableName(magic: magic) == name)
  }

  /// ext4, XFS, Btrfs, F2FS, ZFS, overlayfs, tmpfs, bcachefs, proc; nothing at all, and numbers beside those above.
  @Test(
    arguments: [
      0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0x794C_7630, 0x0102_1994, 0xCA45_1A4E, 0x9FA0, 0,
      0x6968, 0x696A, 0xFFFF_6969,
    ] as [UInt32])
  func `any other is not warned of`(magic: UInt32) {
    #expect(FileSystem.unsuitableName(magic: magic) == nil)
  }

  #if os(Linux)
  @Test func `the number is the kernel's`() throws {
    let directory = try #require(try PosixDirectory.open("/proc"))
    let (magic, remoteName) = try directory.fileSystem()
    #expect(magic == 0x9FA0 && remoteName.isEmpty)
    #expect(try directory.unsuitableFileSystem() == nil)
  }
  #endif

  @Test func `the owner is who made it`() throws {
    let folder = try TemporaryDirectory()
    _ = try folder.directory.open("file", .create)
    #expect(try folder.directory.owner() == PosixDirectory.effectiveUser)
    #expect(try folder.directory.owner(of: "file") == PosixDirectory.effectiveUser)
    #expect(try folder.directory.owner(of: "none") == nil)
    #expect(try #require(try PosixDirectory.open("/")).owner() == 0)
  }

  @Test func `the nearest directory is the path itself or the next above it that is there`() throws {
    let folder = try TemporaryDirectory()
    _ = try folder.directory.makeSubdirectory("a")
    #expect(PosixDirectory.nearest(to: folder.path + "/a")?.path == folder.path + "/a")
    #expect(PosixDirectory.nearest(to: folder.path + "/a/b/c/")?.path == folder.path + "/a")
    #expect(PosixDirectory.nearest(to: "/nowhere-at-all")?.path == "/")
    #expect(PosixDirectory.nearest(to: "nowhere-at-all")?.path == ".")
    #expect(PosixDirectory.nearest(to: "") == nil)
  }

  @Test func `what is free is what the system says`() throws {
    let folder = try TemporaryDirectory()
    let available = try #require(folder.directory.availableByteCount())
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: folder.path)
    let expected = try #require(attributes[.systemFreeSize] as? NSNumber).int64Value
    // Other programs write meanwhile.
    #expect(available >= 0 && abs(Int64(available) - expected) < max(1 << 30, expected / 2))
  }
}
