import CStorage
import Platform

/// File systems that do not provide the guarantees a store needs.
///
/// A store needs locks that all of its writers see, mappings that show what other processes have written, a rename that
/// is durable after the sync of its directory, and syncs that really make data durable. A network file system, or one
/// implemented by another program, may not provide all of these, and that cannot be detected from here.
package enum FileSystem {
  /// The magic number of overlayfs, on which the layers of a container's image lie.
  package static let overlay: UInt32 = 0x794C_7630

  /// Returns the Linux kernel's magic number for the file system of an open file or directory, or the name of one that
  /// an Apple system reports as not local.
  static func kind(of descriptor: Int32, at path: String) throws(StorageError) -> (magic: UInt32, remoteName: String) {
    var magic: UInt32 = 0
    var name = [CChar](repeating: 0, count: 32)
    // The call fills in the number and up to 32 bytes, including a zero.
    let result = unsafe name.withUnsafeMutableBufferPointer { buffer in
      unsafe shelfmark_file_system(descriptor, &magic, buffer.baseAddress!)
    }
    if result != 0 { throw StorageError(operation: "look at", path: path, code: errno) }
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return (magic, String(decoding: bytes, as: UTF8.self))
  }

  /// Returns the name of such a file system from its magic number in the kernel; `nil` for every other file system.
  ///
  /// The numbers come from `linux/magic.h` or the file system's own sources.
  package static func unsuitableName(magic: UInt32) -> String? {
    switch magic {
    case 0x6969: "NFS"
    case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
    case 0x0102_1997: "9P"
    case 0x6573_5546: "FUSE"
    case 0x5346_414F, 0x6B41_4653: "AFS"
    case 0x7375_7245: "Coda"
    case 0x564C: "NCP"
    case 0x00C3_6400: "Ceph"
    case 0x0BD0_0BD0: "Lustre"
    case 0x4750_4653: "GPFS"
    case 0x1983_0326: "BeeGFS"
    case 0x2003_0528: "OrangeFS"
    case 0xAAD7_AAEA: "PanFS"
    case 0x0116_1970: "GFS2"
    case 0x7461_636F: "OCFS2"
    case 0x786F_4256: "a shared folder of VirtualBox"
    case 0xBACB_ACBC: "a shared folder of VMware"
    case 0x7C7C_6673: "a shared folder of Parallels"
    default: nil
    }
  }
}
