import CProcessSupport
import Glibc
import Storage

/// A file of a simulated device as programs see it; what of it is durable its ``SimulatedDisk`` knows.
///
/// The contents stand in one reserved range of addresses, so that a mapping shows later writes, and only the pages
/// that the file has can be touched: whoever reads beyond its end dies here as on a real system.
@safe
final class SimulatedInode: @unchecked Sendable {
  /// Larger than any mapping that the engine asks for of a small file.
  static let reserve = 160 << 20
  private static let page = 4096

  let identity: FileIdentity
  private(set) var size = 0
  private nonisolated(unsafe) let region: UnsafeMutableRawPointer

  init(_ identity: FileIdentity, _ contents: [UInt8] = []) {
    self.identity = identity
    // Addresses only; a page costs memory when it is touched.
    // Shared, as only such memory can be shown a second time.
    let flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE
    let region = unsafe mmap(nil, Self.reserve, PROT_NONE, flags, -1, 0)
    guard let region = unsafe region, unsafe region != MAP_FAILED else { fatalError("no addresses left") }
    unsafe self.region = region
    write(contents, at: 0)
  }

  deinit { unsafe munmap(region, Self.reserve) }

  /// What a program reads.
  var contents: [UInt8] { read(size, at: 0) }

  func read(_ count: Int, at offset: Int) -> [UInt8] {
    let available = max(0, min(count, size - offset))
    // Inside the file, whose pages can be read.
    return unsafe Array(UnsafeRawBufferPointer(start: region + offset, count: available))
  }

  func write(_ bytes: [UInt8], at offset: Int) {
    if offset + bytes.count > size { truncate(to: offset + bytes.count) }
    // The file was made long enough.
    unsafe bytes.withUnsafeBytes { source in
      unsafe UnsafeMutableRawBufferPointer(start: region + offset, count: bytes.count).copyMemory(
        from: source)
    }
  }

  func truncate(to count: Int) {
    precondition(count <= Self.reserve, "a simulated file is not that large")
    let pages = (count + Self.page - 1) / Self.page * Self.page
    let pagesBefore = (size + Self.page - 1) / Self.page * Self.page
    // The rest of the last page is zero, and the pages behind it are gone.
    if count < size { unsafe memset(region + count, 0, size - count) }
    if pages > pagesBefore { unsafe mprotect(region, pages, PROT_READ | PROT_WRITE) }
    if pages < pagesBefore { unsafe mprotect(region + pages, pagesBefore - pages, PROT_NONE) }
    size = count
  }

  /// Shows a part of the file a second time. The memory goes with its last mapping. Whoever reads behind the end of the
  /// file finds there what it is, not his death.
  func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) {
    precondition(range.upperBound <= Self.reserve, "a simulated file is not that large")
    // The range lies in the region, and the addresses are the caller's.
    let isShown = unsafe show_again(region + range.lowerBound, address, range.count)
    precondition(isShown == 0, "memory could not be shown again")
  }

  func map(_ count: Int) -> Mapping {
    precondition(count <= Self.reserve, "a simulated file is not that large")
    // The mapping keeps the file, and with it the addresses.
    return unsafe Mapping(base: UnsafeRawPointer(region), byteCount: count) { _, _ in _ = self }
  }
}
