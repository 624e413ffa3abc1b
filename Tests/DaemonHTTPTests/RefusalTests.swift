import LogStore
import ScanDaemon
import Testing
import UploadQueue
import Workspace

@testable import DaemonHTTP

@Suite struct RefusalTests {
  static let id = UploadID("019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b")!

  @Test(
    arguments: [
      (SyncUnavailable.noServer, 409, "noServer"), (SyncUnavailable.nobodySignedIn, 409, "nobodySignedIn"),
      (SetSessionError.unknown("a"), 404, "notFound"), (SetSessionError.closed("a"), 409, "sessionClosed"),
      (SetSessionError.full(limit: 1), 409, "sessionFull"), (SetSessionError.tooMany(limit: 1), 409, "tooManySessions"),
      (UploadQueueError.unknown(id: id), 404, "notFound"), (UploadQueueError.isBeingSent(id: id), 409, "isBeingSent"),
      (UploadQueueError.full(queue: "q", count: 1, byteCount: 1), 503, "queueUnavailable"),
      (WorkspaceError.userID(byteCount: 0), 400, "badRequest"), (WorkspaceError.nobodySignedIn, 409, "nobodySignedIn"),
      (WorkspaceError.closed(user: "a"), 409, "userChanged"),
      (WorkspaceError.store(.locked(path: "/p")), 503, "storeUnavailable"),
      (StoreError.locked(path: "/p"), 503, "storeUnavailable"), (CancellationError(), 500, "internal"),
    ] as [(any Error, Int, String)])
  func `an error has a status, a name and words`(error: any Error, status: Int, code: String) {
    let refusal = Refusal(error)
    #expect(refusal.status.code == status)
    #expect(refusal.code == code)
    #expect(!refusal.message.isEmpty)
  }

  @Test func `words are data`() throws {
    let answer = Answer(Refusal.badRequest("a\"b\n\u{1}\\"))
    #expect(try JSONBody(answer.body)["error"]?["message"]?.text == "a\"b\n\u{1}\\")
  }
}
