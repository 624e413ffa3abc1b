import Glibc
import Storage

/// A file of a simulated device: what programs see of it, what is durable, and what lies between the two.
///
/// The contents stand in one reserved range of addresses, so that a mapping shows later writes, and only the pages
/// that the file has can be touched: whoever reads beyond its end dies here as on a real system.
@safe
final class SimulatedInode: @unchecked Sendable {
  /// Larger than any mapping that the engine asks for of a small file.
  static let reserve = 160 << 20
  private static let page = 4096

  /// A change that no sync has made durable.
  enum Change {
    case write(Int, [UInt8])
    case truncate(Int)
  }

  let identity: FileIdentity
  private(set) var size = 0
  private(set) var durable: [UInt8]
  private(set) var pending: [Change] = []
  private nonisolated(unsafe) let region: UnsafeMutableRawPointer

  init(_ identity: FileIdentity, _ contents: [UInt8] = []) {
    self.identity = identity
    durable = contents
    // Addresses only; a page costs memory when it is touched.
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    let region = unsafe mmap(nil, Self.reserve, PROT_NONE, flags, -1, 0)
    guard let region = unsafe region, unsafe region != MAP_FAILED else { fatalError("no addresses left") }
    unsafe self.region = region
    resize(to: contents.count)
    store(contents, at: 0)
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
    pending.append(.write(offset, bytes))
    if offset + bytes.count > size { resize(to: offset + bytes.count) }
    store(bytes, at: offset)
  }

  func truncate(to count: Int) {
    pending.append(.truncate(count))
    resize(to: count)
  }

  /// Makes what was written since the last sync durable; what an earlier sync lost stays lost.
  func sync() {
    for change in pending {
      switch change {
      case .write(let offset, let bytes):
        let end = offset + bytes.count
        if durable.count < end { durable.append(contentsOf: repeatElement(0, count: end - durable.count)) }
        durable.replaceSubrange(offset..<end, with: bytes)
      case .truncate(let count):
        if durable.count > count { durable.removeLast(durable.count - count) }
        durable.append(contentsOf: repeatElement(0, count: count - durable.count))
      }
    }
    pending = []
  }

  /// What a failed sync leaves: programs go on seeing what was written, and nothing will ever make it durable.
  func loseUnsynced() { pending = [] }

  func map(_ count: Int) -> Mapping {
    precondition(count <= Self.reserve, "a simulated file is not that large")
    // The mapping keeps the file, and with it the addresses.
    return unsafe Mapping(base: UnsafeRawPointer(region), byteCount: count) { _, _ in _ = self }
  }

  private func store(_ bytes: [UInt8], at offset: Int) {
    // The file was made long enough.
    unsafe bytes.withUnsafeBytes { source in
      unsafe UnsafeMutableRawBufferPointer(start: region + offset, count: bytes.count).copyMemory(
        from: source)
    }
  }

  private func resize(to count: Int) {
    precondition(count <= Self.reserve, "a simulated file is not that large")
    let pages = (count + Self.page - 1) / Self.page * Self.page
    // The rest of the last page is zero, and the pages behind it are gone.
    if count < size { unsafe memset(region + count, 0, size - count) }
    if pages > 0 { unsafe mprotect(region, pages, PROT_READ | PROT_WRITE) }
    unsafe mprotect(region + pages, Self.reserve - pages, PROT_NONE)
    size = count
  }
}
