import HTTPServer
import LogStore
import StoreTestSupport
import Testing
import UploadQueue
import Workspace

@testable import DaemonHTTP
@testable import ScanDaemon

@Suite struct ErrorResponseTests {
  static let id = UploadID("019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b")!

  @Test(
    arguments: [
      (SyncUnavailable.noServer, 409, "noServer"), (SyncUnavailable.notSignedIn, 409, "nobodySignedIn"),
      (SetSessionError.unknown("a"), 404, "notFound"), (SetSessionError.closed("a"), 409, "sessionClosed"),
      (SetSessionError.full(limit: 1), 409, "sessionFull"), (SetSessionError.tooMany(limit: 1), 409, "tooManySessions"),
      (UploadQueueError.unknown(id: id), 404, "notFound"), (UploadQueueError.isBeingSent(id: id), 409, "isBeingSent"),
      (UploadQueueError.full(queue: "q", count: 1, byteCount: 1), 503, "queueUnavailable"),
      (WorkspaceError.userID(byteCount: 0), 400, "badRequest"), (WorkspaceError.notSignedIn, 409, "nobodySignedIn"),
      (WorkspaceError.closed(user: "a"), 409, "userChanged"),
      (WorkspaceError.store(.locked(path: "/p")), 503, "storeUnavailable"),
      (StoreError.locked(path: "/p"), 503, "storeUnavailable"), (CancellationError(), 500, "internal"),
    ] as [(any Error, Int, String)])
  func `an error has a status, a name and words`(error: any Error, status: Int, code: String) {
    let errorResponse = ErrorResponse(ofDaemon: error)
    #expect(errorResponse.status.code == status)
    #expect(errorResponse.code == code)
    #expect(!errorResponse.message.isEmpty)
  }

  @Test func `words are data`() throws {
    let answer = Response(ErrorResponse.badRequest("a\"b\n\u{1}\\"))
    #expect(try JSONBody(answer.bytes)["error"]?["message"]?.text == "a\"b\n\u{1}\\")
  }

  @Test func `requests that fail are one problem of their path, however many they are`() async throws {
    try await TestDaemon.run(isFilled: false) { test in
      // Another store in the place of the catalogue.
      let place = try WorkspaceDirectory(root: test.daemon.options.root).makeStore("catalogue", of: "ana")
      let writer = try StoreWriter(place, schema: TestSchema.schema)
      _ = try NumberedStore.commit(writer)
      writer.close()
      for id in 1...3 {
        let answer = try await test.exchange("GET", "/v1/products/\(id)", expecting: 500)
        #expect(answer.errorCode == "internal")
      }
      try await test.exchange("GET", "/v1/sets-with-no-path", expecting: 404)
      let failing = test.daemon.problems.current.filter { $0.key.code == .requestsFailing }
      let problem = try #require(failing.first)
      #expect(failing.count == 1 && problem.key.about == "GET /v1/products/{id}")
      #expect(problem.value.count == 3 && problem.value.message.contains("is not a catalogue"))
      // It ends by itself.
      #expect(problem.value.end != nil)
    }
  }
}
