import Synchronization
import UploadQueue

/// A server in memory that answers as a test says, and writes down what it got.
final class ScriptedServer: Sendable {
  struct Request: Sendable, Equatable {
    let id: UploadID
    let orderKey: String?
    let text: String
    let attempt: Int
    /// The status that it was answered with.
    let status: Int
    /// What ``ScriptedServer/stamp`` said.
    let stamp: Int
  }

  typealias Answer = @Sendable (Upload, _ number: Int) async throws -> UploadResponse

  private struct State {
    var log: [Request] = []
    var running = 0
    var mostRunning = 0
    var number = 0
  }

  private let state = Mutex(State())
  private let stamp: @Sendable () -> Int
  private let answer: Answer

  init(
    stamp: @escaping @Sendable () -> Int = { 0 },
    answer: @escaping Answer = { _, _ in UploadResponse(status: 200) }
  ) {
    self.stamp = stamp
    self.answer = answer
  }

  /// A server that always answers with this status.
  convenience init(status: Int) { self.init(answer: { _, _ in UploadResponse(status: status) }) }

  var log: [Request] { state.withLock { $0.log } }
  var texts: [String] { log.map(\.text) }
  /// The most requests that there were at once.
  var mostRunning: Int { state.withLock { $0.mostRunning } }

  /// What a worker calls. A request counts from its beginning, and even if there is no answer.
  func send(_ upload: Upload) async throws -> UploadResponse {
    let number = state.withLock { state in
      state.number += 1
      state.running += 1
      state.mostRunning = max(state.mostRunning, state.running)
      return state.number
    }
    defer { state.withLock { $0.running -= 1 } }
    let text: String = if case .file = upload.payload { "file" } else { try upload.decode() }
    let stamp = stamp()
    do {
      let response = try await answer(upload, number)
      record(upload, text, response.status, stamp)
      return response
    } catch {
      record(upload, text, 0, stamp)
      throw error
    }
  }

  /// The same for several, each of which is answered as if it came alone.
  func send(_ batch: UploadBatch) async throws -> UploadResponse {
    var results: [String] = []
    for (index, upload) in batch.uploads.enumerated() {
      let status: Int
      do { status = try await send(upload).status } catch {
        // Once some were taken there is an answer: without one nobody would know of them.
        if index == 0 || Task.isCancelled { throw error }
        status = 503
      }
      results.append(#"{"index":\#(index),"status":\#(status)}"#)
    }
    let body = #"{"results":["# + results.joined(separator: ",") + "]}"
    return UploadResponse(status: 207, body: .complete(Array(body.utf8)))
  }

  private func record(_ upload: Upload, _ text: String, _ status: Int, _ stamp: Int) {
    let request = Request(
      id: upload.id, orderKey: upload.orderKey, text: text, attempt: upload.attempts, status: status, stamp: stamp)
    state.withLock { $0.log.append(request) }
  }
}

/// There is no network.
struct NoNetwork: Error {}
