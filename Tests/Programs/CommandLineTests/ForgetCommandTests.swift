import Foundation
import Testing

/// `catalogctl forget`: what is erased is in no byte of the file.
@Suite struct ForgetCommandTests {
  private func log(_ root: TestRoot) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: root.path + "/users/u/documents.log"))
  }

  private func has(_ text: String, _ root: TestRoot) throws -> Bool { try log(root).range(of: Data(text.utf8)) != nil }

  private func put(_ root: TestRoot, _ collection: String, _ documents: [String]) throws {
    let lines = documents.joined(separator: "\n")
    #expect(try root.run("documents", "put", collection, input: Data(lines.utf8)).code == 0)
  }

  /// A store with something of each kind, written as the daemon writes it.
  private func filled() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    for code in ["UPLOAD-1", "UPLOAD-2"] { #expect(try root.run("queue", "add", #"{"code":"\#(code)"}"#).code == 0) }
    #expect(try root.run("queue", "add", "--queue", "other", #"{"code":"UPLOAD-3"}"#).code == 0)
    let now = Date().timeIntervalSince1970
    let (old, young) = (now - 40 * 86_400, now - 86_400)
    let misses = [
      #"{"id":"MISS-OLD","count":1,"first":1,"last":\#(old),"input":"a"}"#,
      #"{"id":"MISS-YOUNG","count":1,"first":1,"last":\#(young),"input":"a"}"#,
    ]
    try put(root, "scan.misses", misses)
    try put(root, "scan.pending", [#"{"id":"p","code":"PENDING","input":"a","time":\#(young)}"#])
    let sessions = [
      #"{"id":"s1","name":"SESSION-OLD","created":1,"closed":\#(old),"holdsInput":false,"count":2}"#,
      #"{"id":"s2","name":"SESSION-OPEN","created":1,"holdsInput":true,"count":1}"#,
    ]
    try put(root, "scan.sessions", sessions)
    let codes = [("s1/0", "CODE-A"), ("s1/1", "CODE-B"), ("s2/0", "CODE-C")]
    try put(root, "scan.session-codes", codes.map { #"{"id":"\#($0.0)","code":"\#($0.1)"}"# })
    let members = [
      #"{"id":"1","seen":"2020-01-01T00:00:00Z","name":"MEMBER-OLD"}"#,
      #"{"id":"2","seen":\#(young),"name":"MEMBER-YOUNG"}"#, #"{"id":"3","name":"MEMBER-UNKNOWN"}"#,
    ]
    try put(root, "members", members)
    return root
  }

  @Test func `everything of a kind goes, and its bytes with it`() throws {
    let root = try filled()
    let run = try root.run("forget", "--uploads", "--misses", "--sessions", "--documents", "members", "--yes", "--json")
    #expect(run.code == 0, "\(run.words)")
    let report = try run.object()
    #expect(report.number("uploads") == 3 && report.number("beingSent") == 0 && report.number("pendingScans") == 1)
    #expect(report.number("misses") == 2 && report.number("sessions") == 2 && report.number("documents") == 3)
    #expect(report["dryRun"] == nil && (report["leftovers"] as? [Any])?.isEmpty == true)
    for text in ["UPLOAD-", "MISS-", "PENDING", "SESSION-", "CODE-", "MEMBER-"] {
      #expect(try !has(text, root), "\(text)")
    }
    #expect(try root.run("queue", "stat", "--json").object().number("removed") == 2)
    #expect(try root.run("verify").code == 0)
    // Once more there is nothing, and no question.
    let again = try root.run("forget", "--uploads", "--misses", "--sessions", "--documents", "members")
    #expect(again.code == 0 && again.text.contains("erased: nothing"), "\(again.words)")
  }

  @Test func `only what is old enough goes`() throws {
    let root = try filled()
    let age = ["--older-than", "30", "--time", "seen"]
    let kinds = ["--uploads", "--misses", "--sessions", "--documents", "members"] + age
    let dry = try root.run(["forget", "--dry-run", "--json"] + kinds)
    let sum = try dry.object()
    #expect(dry.code == 0 && sum["dryRun"] as? Bool == true)
    #expect(sum.number("misses") == 1 && sum.number("documents") == 1)
    for text in ["MISS-OLD", "MEMBER-OLD", "SESSION-OLD"] { #expect(try has(text, root), "\(text)") }
    let run = try root.run(["forget", "--yes"] + kinds)
    #expect(run.code == 0 && run.text.contains("1 missed code, 1 session, 1 document"), "\(run.text) \(run.words)")
    #expect(run.words.contains("1 document without a time in seen stay"), "\(run.words)")
    for text in ["MISS-OLD", "SESSION-OLD", "CODE-A", "CODE-B", "MEMBER-OLD"] {
      #expect(try !has(text, root), "\(text)")
    }
    for text in ["UPLOAD-1", "MISS-YOUNG", "PENDING", "SESSION-OPEN", "CODE-C", "MEMBER-YOUNG", "MEMBER-UNKNOWN"] {
      #expect(try has(text, root), "\(text)")
    }
  }

  @Test func `what was deleted in another way is gone from the file too`() throws {
    let root = try filled()
    #expect(try root.run("documents", "delete", "members", "--all").code == 0)
    #expect(try root.run("queue", "clear").code == 0)
    #expect(try has("MEMBER-OLD", root))
    #expect(try root.run("forget", "--uploads", "--queue").code == 64, "forget knows all queues")
    #expect(try root.run("forget", "--documents", "members").code == 0)
    #expect(try !has("MEMBER-OLD", root) && !has("UPLOAD-1", root) && has("UPLOAD-3", root))
  }

  @Test func `nobody is asked where nobody is, and nothing is made where nothing is`() throws {
    let root = try filled()
    let refused = try root.run("forget", "--misses")
    #expect(refused.code == 64 && refused.words.contains("--yes erases 2 missed codes"), "\(refused.words)")
    #expect(try has("MISS-OLD", root))
    let empty = try TestRoot()
    let run = try empty.run("forget", "--misses", "--yes", "--user", "nobody", "--json")
    #expect(run.code != 0 && run.words.contains("nobody") && !empty.exists, "\(run.words)")
    let mistyped = try root.run("forget", "--documents", "membres", "--misses", "--yes")
    #expect(mistyped.code == 1 && mistyped.words.contains("no collection \"membres\""), "\(mistyped.words)")
    #expect(try !has("MISS-OLD", root), "what was named rightly is erased")
  }

  @Test(arguments: [
    [], ["--misses", "--older-than", "-1"], ["--misses", "--older-than", "x"], ["--misses", "--time", "a"],
    ["--documents", "members", "--older-than", "3"], ["--documents", "members", "--time", "seen"],
    ["--documents", "members", "--older-than", "3", "--time", "a..b"],
    ["--documents", "shelfmark.queue/uploads/state"],
  ])
  func `what is not clear is refused`(arguments: [String]) throws {
    let root = try filled()
    let run = try root.run(["forget", "--yes"] + arguments)
    #expect(run.code == 64 && run.isOrderly, "\(arguments): \(run.code) \(run.words)")
    for text in ["MISS-OLD", "MEMBER-OLD", "UPLOAD-1"] { #expect(try has(text, root), "\(text)") }
  }

  @Test func `files of a repair are named, because they may hold what was erased`() throws {
    let root = try filled()
    let kept = root.path + "/users/u/documents.damaged-1"
    try log(root).write(to: URL(fileURLWithPath: kept))
    let run = try root.run("forget", "--misses", "--yes", "--json")
    #expect(run.code == 0 && run.words.contains("documents.damaged-1 may hold what was erased"), "\(run.words)")
    let leftovers = try #require(try run.object()["leftovers"] as? [String])
    #expect(leftovers.count == 1 && leftovers[0].hasSuffix("/documents.damaged-1"))
  }
}
