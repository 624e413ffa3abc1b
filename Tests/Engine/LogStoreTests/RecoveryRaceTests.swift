import Bytes
import Platform
import RecordFormat
import Storage
import StoreTestSupport
import Synchronization
import Testing
@testable import LogStore

/// Readers that search for the last commit while a writer puts in order what a crash left, and goes on.
@Suite struct RecoveryRaceTests {
  /// A store with three commits and what is left of a fourth one.
  private static func torn(_ damage: (inout [UInt8]) -> Void = { _ in }) throws -> TestStore {
    let store = TestStore()
    let writer = try store.writer()
    for number in 1...3 { _ = try writer.commit { try $0.put("\(number)", "code") } }
    let slots = Array(store.log[4096..<12_288])
    _ = try writer.commit { transaction in
      for id in 0..<300 { try transaction.put("torn \(id)", "code") }
    }
    writer.close()
    var log = store.log
    log.replaceSubrange(4096..<12_288, with: slots)
    // The body, so that neither header nor footer tells that it is torn.
    log[log.count - 10_000] ^= 1
    damage(&log)
    return store.with(log: log)
  }

  /// What a writer does, one act after the other.
  private final class Acts: Sendable {
    private let store: TestStore
    private let state = Mutex<(writer: StoreWriter?, count: Int)>((nil, 0))

    init(_ store: TestStore) { self.store = store }

    /// Opens the store first, and then adds a commit each time.
    func next() throws {
      try state.withLock { state in
        if let writer = state.writer {
          state.count += 1
          let number = state.count
          _ = try writer.commit { try $0.put("new \(number)", "code") }
        } else {
          state.writer = try store.writer()
        }
      }
    }

    func close() { state.withLock { $0.writer?.close() } }
  }

  @Test(arguments: [1, 2, 5])
  func `a torn tail that is cut off and written over while a reader looks is no damage`(_ burst: Int) throws {
    var isOver = false
    var call = 0
    var shown: Set<UInt64> = []
    while !isOver {
      call += 1
      let store = try Self.torn()
      let acts = Acts(store)
      let file = try #require(try store.device.directory.open("s.log", .read))
      let late = LateFile(file, from: call) { for _ in 0..<burst { try acts.next() } }
      let recovery = try LogFile(late, keys: store.location.keys).recover()
      let sequence = try #require(recovery.footer).sequence
      #expect(sequence >= 3, "call \(call)")
      shown.insert(sequence)
      isOver = late.calls < call
      acts.close()
    }
    #expect(call > 4 && shown.count > 1)
  }

  @Test func `damage that stays is reported however often a reader reads`() throws {
    let store = try Self.torn { log in log[12_288 + 4096] ^= 1 }
    var log = store.log
    for byte in 4096..<12_288 { log[byte] = 0 }
    let damaged = store.with(log: log)
    let file = try #require(try damaged.device.directory.open("s.log", .read))
    #expect {
      _ = try LogFile(file, keys: store.location.keys).recover()
    } throws: { error in
      guard case StoreError.damaged(_, 16_384, let what) = error else { return false }
      return what.contains("commit 2 cannot be read here, and commit 4 stands after it")
    }
  }
}

/// A file to read, before each of whose calls from some number on something happens.
private final class LateFile: StorageFile {
  private let base: any StorageFile
  private let first: Int
  private let happen: @Sendable () throws -> Void
  private let count = Atomic(0)

  init(_ base: any StorageFile, from first: Int, _ happen: @escaping @Sendable () throws -> Void) {
    self.base = base
    self.first = first
    self.happen = happen
  }

  /// Calls so far.
  var calls: Int { count.load(ordering: .relaxed) }

  private func come() {
    let number = count.add(1, ordering: .relaxed).newValue
    // No writer is faster than its reader for ever.
    guard number >= first, number < first + 12 else { return }
    do { try happen() } catch { Issue.record(error) }
  }

  var path: String { base.path }
  var identity: FileIdentity { base.identity }
  func wasRenamed(to path: String) { base.wasRenamed(to: path) }

  func size() throws(StorageError) -> Int {
    come()
    return try base.size()
  }

  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    come()
    return try base.read(count, at: offset)
  }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) { try base.write(bytes, at: offset) }
  func truncate(to byteCount: Int) throws(StorageError) { try base.truncate(to: byteCount) }
  func sync() throws(StorageError) { try base.sync() }
  func map(_ byteCount: Int) throws(StorageError) -> Mapping { try base.map(byteCount) }
  func linkCount() throws(StorageError) -> Int { try base.linkCount() }

  @unsafe func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError) {
    // The caller reserved the addresses.
    unsafe try base.map(range, at: address)
  }
}
