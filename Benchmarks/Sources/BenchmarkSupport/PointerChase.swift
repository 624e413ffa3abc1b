#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The reference: loads that depend on each other, one cache line each, over a buffer of a given size in 4 KiB pages.
///
/// The lines form one cycle in random order (Sattolo), so that neither prefetcher nor overlap helps: the time of a step
/// is what one miss of the caches and the TLB costs on this machine at this moment.
@safe
package final class PointerChase {
  private static let lineByteCount = 64
  private let memory: UnsafeMutableRawPointer
  private let byteCount: Int
  private var place = 0

  package init(byteCount wanted: Int, seed: UInt64) throws {
    let lineCount = max(1024, wanted / Self.lineByteCount)
    byteCount = lineCount * Self.lineByteCount
    // Private memory of this object, given back in `deinit`.
    let mapped = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { throw SystemError("map", "chase") }
    unsafe memory = mapped
    unsafe madvise(memory, byteCount, MADV_NOHUGEPAGE)
    var order = (0..<UInt32(lineCount)).map { $0 }
    var random = KeyRandom(seed)
    for index in stride(from: lineCount - 1, to: 0, by: -1) { order.swapAt(index, random.below(index)) }
    for index in 0..<lineCount {
      // Each index is below the number of lines.
      unsafe memory.storeBytes(of: Int(order[index]), toByteOffset: index * Self.lineByteCount, as: Int.self)
    }
  }

  deinit { unsafe munmap(memory, byteCount) }

  /// Goes `count` steps on; returns where that leads.
  @inline(never)
  package func run(_ count: Int) -> UInt64 {
    var place = place
    for _ in 0..<count {
      // What a line holds is the number of another one.
      place = unsafe memory.load(fromByteOffset: place * Self.lineByteCount, as: Int.self)
    }
    self.place = place
    return UInt64(place)
  }
}
