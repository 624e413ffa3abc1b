import Dispatch
import Documents
import Foundation
import LogStore
import ProcessTestSupport
import RandomTestSupport
import Synchronization
import UploadQueue

/// A process that tests start and kill: it enqueues uploads, or sends them to a receiver that is a file.
///
/// It says what it did on standard output, a line each. A scene that went as it should ends with exit code 0.
@main
enum QueueActor {
  static func main() {
    playScene { scene, directory, number in
      let location = try StoreLocation.creating(directory, name: "s")
      switch scene {
      case "enqueue": try enqueue(location, number)
      case "send", "send all": try send(location, directory, number, untilEmpty: scene == "send all")
      default: throw SceneFailure("no scene \(scene)")
      }
    }
  }

  /// A document that comes with an upload, in one transaction.
  struct Scan: Codable, Identifiable, Sendable {
    var id: String
  }

  /// Uploads under each of the keys of one process.
  private static let uploadsPerKey = 20

  private static func queue(_ location: StoreLocation, _ options: QueueOptions = QueueOptions()) throws -> UploadQueue {
    var documents = DocumentStore.Options()
    documents.lockTimeout = .seconds(60)
    return try UploadQueue(in: DocumentStore.open(location, options: documents), options: options)
  }

  /// Enqueues under three keys at once, and says what was accepted: id, key and number under that key. Then it waits to
  /// be killed.
  static func enqueue(_ location: StoreLocation, _ process: Int) throws {
    let queue = try queue(location)
    let scans = try queue.store.collection("scans", of: Scan.self)
    say("open")
    try wait {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in ["a", "b"] {
          group.addTask {
            for number in 0..<uploadsPerKey {
              let id = try await queue.enqueue("\(number)", kind: "k", orderKey: "\(process)\(name)")
              say("\(id) \(process)\(name) \(number)")
            }
          }
        }
        group.addTask {
          for number in 0..<uploadsPerKey {
            let id = try queue.store.transaction { transaction in
              try transaction.insert(Scan(id: "\(process)c \(number)"), into: scans)
              return try queue.enqueue("\(number)", kind: "scan", orderKey: "\(process)c", in: transaction)
            }
            say("\(id) \(process)c \(number)")
          }
        }
        try await group.waitForAll()
      }
    }
    while true { pause() }
  }

  /// Sends to a receiver that is a file: a line for each request, and for each success that was committed. Some
  /// requests fail, and of some the answer gets lost. Uploads of kind `k` go in batches.
  static func send(_ location: StoreLocation, _ directory: String, _ process: Int, untilEmpty: Bool) throws {
    // A C string for the call.
    let file = unsafe open(directory + "/received", O_WRONLY | O_APPEND | O_CREAT, 0o600)
    try expect(file >= 0, "no file to receive")
    let note: @Sendable (String) -> Void = { line in
      let bytes = Array((line + "\n").utf8)
      // A short line is appended whole.
      _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(file, $0.baseAddress, $0.count) }
    }
    var options = QueueOptions()
    options.trace = { if case .delivered(let id) = $0 { note("done \(process) \(id)") } }
    var work = WorkerOptions()
    work.retry.maximumRetries = .max
    work.retry.firstPause = .milliseconds(1)
    work.retry.longestPause = .milliseconds(10)
    work.retry.maximumInterruptions = .max
    work.breakerFailures = .max
    work.leaseCheckInterval = .milliseconds(20)
    let random = Mutex(SeededGenerator(seed: UInt64(process)))
    work.batches["k"] = UploadBatchOptions(maximumCount: 4)
    let sendBatch: UploadWorker.BatchTransport = { batch in
      let choice = random.withLock { Int.random(in: 0..<10, using: &$0) }
      if choice == 0 { return UploadResponse(status: 503) }
      if choice == 1 { return UploadResponse(status: 500) }
      // It stops at one of them, and says so.
      let count = choice == 2 ? random.withLock { Int.random(in: 0..<batch.uploads.count, using: &$0) } : .max
      for upload in batch.uploads.prefix(count) {
        note("got \(process) \(upload.id) \(upload.orderKey ?? "") \(try upload.decode(String.self)) 200")
        try await Task.sleep(for: .microseconds(100))
      }
      if choice == 3 { throw SceneFailure("the answer got lost") }
      if count == .max { return UploadResponse(status: 200) }
      let failed = (count..<batch.uploads.count).map { #"{"index":\#($0),"status":503}"# }.joined(separator: ",")
      return UploadResponse(status: 207, body: .complete(Array(#"{"failed":[\#(failed)]}"#.utf8)))
    }
    let worker = UploadWorker(try queue(location, options), options: work, batchTransport: sendBatch) { upload in
      let choice = random.withLock { Int.random(in: 0..<10, using: &$0) }
      let status = choice == 0 ? 503 : choice == 1 ? 0 : 200
      note("got \(process) \(upload.id) \(upload.orderKey ?? "") \(try upload.decode(String.self)) \(status)")
      // The way there and back.
      try await Task.sleep(for: .microseconds(300))
      if status == 0 { throw SceneFailure("the answer got lost") }
      return UploadResponse(status: status)
    }
    say("open")
    try wait { try await worker.run(untilEmpty: untilEmpty) }
  }

  /// Runs a task to its end. It blocks the thread that `main` has, which is none of the tasks'.
  private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
    let end = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task {
      do { try await body() } catch { failure.withLock { $0 = error } }
      end.signal()
    }
    end.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
