import CProcessSupport
import Foundation

/// The memory of a running process, as a core dump of it has it: without what the process has left out of dumps. Mappings of
/// files that nobody can write to are left out too; a core dump has them only if it is asked to.
struct CoreDump {
  private(set) var pieces: [Data] = []
  /// The number of bytes that the process has left out.
  private(set) var leftOut = 0

  /// - Throws: `CocoaError` where this process may not look into the other one.
  init(of process: pid_t) throws {
    let folder = "/proc/\(process)"
    let memory = unsafe open(folder + "/mem", O_RDONLY)
    if memory < 0 { throw CocoaError(.fileReadNoPermission) }
    defer { close(memory) }
    var range: Range<UInt64>?
    // Such a file says that it is empty, so it is read to its end.
    let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder + "/smaps")).readToEnd() ?? Data()
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      if bounds.count == 2, words.count >= 5 {
        // Address, permissions, offset, device, inode: 0 for memory that belongs to no file.
        let isKept = words[1].hasPrefix("r") && (words[1].contains("w") || words[4] == "0") && bounds[0] < 1 << 47
        range = isKept ? bounds[0]..<bounds[1] : nil
      } else if words[0] == "VmFlags:", let found = range {
        range = nil
        if words.contains("dd") {
          leftOut += found.count
          continue
        }
        var bytes = Data(count: found.count)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Self.read(memory, found.lowerBound, into: $0) }
        pieces.append(bytes.prefix(count))
      }
    }
  }

  /// Reads from an address on. Returns how many bytes could be read: the kernel's own pages cannot.
  private static func read(_ memory: Int32, _ address: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < bytes.count {
      // The rest of the buffer, within its bounds.
      let count = unsafe pread(memory, bytes.baseAddress! + done, bytes.count - done, off_t(address) + off_t(done))
      if count <= 0 { break }
      done += count
    }
    return done
  }

  /// Whether the dump has these bytes anywhere.
  func contains(_ bytes: [UInt8]) -> Bool {
    pieces.contains { piece in
      unsafe piece.withUnsafeBytes { all in
        // Both have at least a byte, and live as long as the call.
        guard let start = all.baseAddress, !bytes.isEmpty else { return false }
        return unsafe memory_has(start, all.count, bytes, bytes.count)
      }
    }
  }

  func contains(_ text: String) -> Bool { contains(Array(text.utf8)) }
}
