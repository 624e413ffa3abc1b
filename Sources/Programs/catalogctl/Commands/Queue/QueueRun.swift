import ArgumentParser
import DocumentFormat
import Essentials
import JSONFormat
import Platform
import UploadHTTP
import UploadQueue

struct QueueRun: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Send the uploads over HTTP.",
    discussion: """
      Each is a POST of its JSON with its id as Idempotency-Key; JSON with files is a form. SIGINT and SIGTERM end the \
      command when the requests that run are answered, or after ten seconds. With --until-empty it ends when nothing \
      waits, with exit code 69 if uploads were parked; also when the rest waits for somebody's decision, or because \
      the server's answers say that it takes nothing. It does not wait for uploads that were added with --not-before \
      and a time in the future, nor for later uploads with their key: it says on standard error how many wait until \
      when, and they do not change the exit code.

      A 2xx is success. With --success the JSON of the response must meet a condition as well, in the language of \
      'documents query --where'; one that does not counts like 422, and one that cannot be read is sent again.
      A status in --pause-on is about the server: nothing is sent but a probe now and then, and nothing is parked. One \
      in --park-on is about the upload, which is parked after its repetitions. After any other, 408, 425, 429 and 5xx \
      among them, and after no answer, the upload is sent again later; after --retries repetitions it is parked as \
      well, unless several uploads in a row fail: then the server is taken to be down, and they wait.

      With --batch consecutive uploads of one kind and one key (queue add --key) go in one request, with one \
      Idempotency-Key: a line of JSON each, or one JSON array. After a 2xx, or a 207, whose JSON lists the "failed" \
      ones or the "results" of each, only those that failed are sent again. A batch that is refused as a whole is sent \
      in halves, until the upload is found that is refused. An upload without a key, or one that failed by itself, is \
      a batch of one; files go as without --batch.
      """)

  @OptionGroup var target: QueueTarget
  @OptionGroup var write: WriteOptions
  @Option(help: ArgumentHelp("Where they go, with {id} and {kind} where these belong.", valueName: "template"))
  var url: String
  @Flag(help: "End when nothing is due.") var untilEmpty = false
  @Option(help: "Requests at once.") var concurrency = 2
  @Option(help: "Repetitions of an upload that fails.") var retries = 2
  @Option(help: ArgumentHelp("The first pause before a repetition.", valueName: "seconds")) var pause = 1.0
  @Option(help: ArgumentHelp("The longest time for a request.", valueName: "seconds")) var timeout = 60.0
  @Option(help: ArgumentHelp("A header, such as 'Accept: text/plain'.", valueName: "name: value")) var header:
    [String] = []
  @Option(
    help: ArgumentHelp("What the response's JSON must meet, such as 'status.code == 200'.", valueName: "condition"))
  var success: String?
  @Option(
    help: ArgumentHelp(
      "Statuses that pause the server and park nothing (default: \(Self.words(UploadStatusPolicy.defaultPauseOn))).",
      valueName: "list")) var pauseOn: String?
  @Option(
    help: ArgumentHelp(
      "Statuses that park an upload after its repetitions (default: \(Self.words(UploadStatusPolicy.defaultParkOn))).",
      valueName: "list")) var parkOn: String?
  @Option(help: "Whether later uploads with the key of a parked one go on or wait: continue or hold.")
  var onParked = ParkedUploadPolicy.continue
  @Option(
    help: ArgumentHelp("The most uploads of one request; without it each goes alone.", valueName: "count"))
  var batch: Int?
  @Option(
    help: ArgumentHelp(
      "How long an upload waits for others while its batch is not full (default: 0).", valueName: "milliseconds"))
  var batchLingerMs: Int?
  @Option(help: "What a batch is: ndjson, a line of JSON each, or array (default: ndjson).")
  var batchFormat: UploadHTTPOptions.BatchFormat?
  @Option(
    help: ArgumentHelp(
      "A file with the secret by which requests are signed (Standard Webhooks): whsec_ and base64, or its bytes.",
      valueName: "path"), completion: .file()) var secretFile: String?
  @Option(
    help: ArgumentHelp("A file with the former secret: each request has a second signature by it.", valueName: "path"),
    completion: .file()) var previousSecretFile: String?
  @Option(
    help: ArgumentHelp("PEM file of the authorities to trust instead of the system's.", valueName: "file"),
    completion: .file()) var caFile: String?
  @Flag(help: "Send multipart/form-data.") var multipart = false
  @Flag(help: "Pack bodies with gzip.") var gzip = false

  func validate() throws {
    guard (1...256).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 256") }
    guard (0...1000).contains(retries) else { throw ValidationError("--retries is 0 to 1000") }
    guard pause >= 0, pause <= 86_400 else { throw ValidationError("--pause is 0 to 86400 seconds") }
    guard timeout > 0, timeout <= 86_400 else { throw ValidationError("--timeout is up to 86400 seconds") }
    if previousSecretFile != nil, secretFile == nil {
      throw ValidationError("--previous-secret-file comes with --secret-file, the present one")
    }
    if let batch, !(1...10_000).contains(batch) { throw ValidationError("--batch is 1 to 10000 uploads") }
    if let batchLingerMs, !(0...60_000).contains(batchLingerMs) {
      throw ValidationError("--batch-linger-ms is 0 to 60000 milliseconds")
    }
    if batch == nil, batchLingerMs != nil || batchFormat != nil {
      throw ValidationError("--batch-linger-ms and --batch-format come with --batch, the most uploads of one request")
    }
    if batch != nil, multipart { throw ValidationError("--multipart and --batch: a batch is no form; use one of them") }
    guard header.allSatisfy({ $0.contains(":") }) else { throw ValidationError("--header is 'Name: value'") }
    _ = try rule()
    _ = try statuses()
  }

  private static func words(_ statuses: [UploadStatus]) -> String {
    statuses.map(\.description).joined(separator: ",")
  }

  private func rule() throws -> UploadSuccessRule? {
    do { return try success.map { try UploadSuccessRule($0) } } catch {
      throw ValidationError("--success is a condition such as 'status.code == 200': \(error)")
    }
  }

  private func statuses() throws -> UploadStatusPolicy {
    func list(_ option: String, _ text: String?) throws -> [UploadStatus]? {
      try text?.split(separator: ",").map { part in
        let word = part.trimmed
        if let status = UploadStatus(word) { return status }
        throw ValidationError("\(option) is a list of statuses such as 404, or classes such as 4xx: \(word) is neither")
      }
    }
    let (pausing, parking) = (try list("--pause-on", pauseOn), try list("--park-on", parkOn))
    do { return try UploadStatusPolicy(pauseOn: pausing, parkOn: parking) } catch {
      throw ValidationError("\(error)")
    }
  }

  func run() async throws {
    let http = try transport()
    do { try UploadHTTPTransport.load() } catch { throw Failure(.unavailable, "nothing can be sent: \(error)") }
    let queue = try target.writable(write)
    let before = try queue.counts()
    var options = WorkerOptions()
    options.concurrency = concurrency
    options.retry.maximumRetries = retries
    options.retry.firstPause = .seconds(pause)
    options.retry.statuses = try statuses()
    if let rule = try rule() { options.success = { _, response in try rule.holds(for: response) } }
    if onParked == .hold { options.onParked = { _, _ in .hold } }
    options.attemptTimeout = .seconds(timeout + 10)
    options.batch = batch.map {
      UploadBatchOptions(maximumCount: $0, linger: .milliseconds(batchLingerMs ?? 0))
    }
    let worker = UploadWorker(
      queue, options: options, batchTransport: { (batch: UploadBatch) in try await http.send(batch) },
      transport: { (upload: Upload) in try await http.send(upload) })
    let signals = TerminationSignals.sources { _ in Task { await worker.drain(within: .seconds(10)) } }
    if untilEmpty { try tellPauses(queue) }
    do { try await worker.run(untilEmpty: untilEmpty, waitsForLater: false) } catch {
      try? await http.shutdown()
      throw error
    }
    try await http.shutdown()
    withExtendedLifetime(signals) {}
    try report(queue, before, paused: await worker.pausedDestinations.values.first)
  }

  /// Tells of pauses that began before this command and are long: it waits for their ends.
  private func tellPauses(_ queue: UploadQueue) throws {
    let soon = Date(timeIntervalSinceNow: 60)
    var count = 0
    var last = soon
    try queue.forEach(.waiting) { upload in
      guard let end = upload.notBefore, end > soon, end != upload.wished else { return true }
      count += 1
      last = max(last, end)
      return true
    }
    if count == 0 { return }
    Console.say(
      "catalogctl: \(Quantity.of(count, "upload")) \(count == 1 ? "waits" : "wait") for the end of a pause after a failure,"
        + " the last one until \(DateText.text(last)); 'catalogctl queue retry --waiting' ends the pauses")
  }

  private func transport() throws -> UploadHTTPTransport {
    if let caFile {
      do { _ = try SequentialFile(caFile).readAll(limit: 16 << 20) } catch {
        throw Failure(.noInput, "--ca-file \(caFile): the file cannot be read: \(error.reason)")
      }
    }
    var options = UploadHTTPOptions()
    options.timeout = .seconds(timeout)
    options.certificateAuthorityFile = caFile
    options.names = UploadHTTPOptions.Names(url: "--url", certificateAuthorityFile: "--ca-file")
    options.body = multipart ? .multipart : .json
    options.readsResponses = success != nil
    options.isCompressed = gzip
    options.batchFormat = batchFormat ?? .ndjson
    options.userAgent = "shelfmark-catalogctl/\(Catalogctl.version)"
    options.secrets = try [secretFile, previousSecretFile].compactMap { $0 }.map { path in
      let bytes = try SecretFile.bytes(path)
      do { return try WebhookSecret(bytes) } catch {
        throw Failure(.data, "\(path): \(error)")
      }
    }
    options.headers = header.map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts[1].trimmed)
    }
    do { return try UploadHTTPTransport(url: url, options: options) } catch { throw Failure(.usage, "\(error)") }
  }

  private func report(_ queue: UploadQueue, _ before: QueueCounts, paused: DestinationPause?) throws {
    let now = try queue.counts()
    let held = try queue.heldKeys()
    let delivered = now.delivered - before.delivered
    DurableChange.report(
      "\(Quantity.of(delivered, "upload")) delivered, which the queue knows",
      advice: "'catalogctl queue stat' shows what is left")
    if target.output.json {
      JSONText.object([
        ("delivered", .int(delivered)), ("waiting", .int(now.waiting)), ("parked", .int(now.parked)),
        ("heldKeys", .int(held.count)), ("pausedBy", .optional(paused?.answer.message)),
      ]).print()
    } else {
      let keys = held.isEmpty ? "" : ", held keys: \(held.count)"
      Console.print("delivered: \(delivered), waiting: \(now.waiting), parked: \(now.parked)\(keys)")
    }
    if untilEmpty, try !queue.pauses().isEmpty {
      throw Failure(.temporary, "the queue is paused; run 'catalogctl queue resume'")
    }
    if untilEmpty, let paused {
      throw Failure(
        .unavailable,
        "\(paused.answer.message); nothing was parked, and \(now.waiting) uploads wait: correct the URL, the headers or"
          + " the server")
    }
    if untilEmpty, let key = held.first {
      throw Failure(
        .unavailable,
        "\(now.waiting) uploads wait for a decision: \(key.upload) is parked and holds \(key.orderKey); see 'catalogctl queue "
          + "retry' and 'queue drop'")
    }
    let later = untilEmpty ? try UploadsForLater(queue) : UploadsForLater()
    if let time = later.earliest {
      let verb = later.count == 1 ? "waits" : "wait"
      Console.say("catalogctl: \(Quantity.of(later.count, "upload")) \(verb) until \(DateText.text(time)) or later")
    }
    if untilEmpty, now.waiting + now.sending > later.count {
      throw Failure(.temporary, "not sent yet: \(Quantity.of(now.waiting + now.sending - later.count, "upload"))")
    }
    if untilEmpty, now.parked > before.parked {
      throw Failure(
        .unavailable,
        "parked: \(Quantity.of(now.parked - before.parked, "upload")); see 'catalogctl queue list --state parked'")
    }
  }
}

/// The uploads that were added to be sent at a later time, and those that wait for them under their key.
private struct UploadsForLater {
  private(set) var count = 0
  /// The earliest of these times; `nil` if no upload has one.
  private(set) var earliest: Date?

  init() {}

  init(_ queue: UploadQueue) throws {
    let now = Date()
    var keys: Set<String> = []
    try queue.forEach(.waiting) { upload in
      let time = upload.wished.flatMap { $0 > now ? $0 : nil }
      if let time { earliest = min(earliest ?? time, time) }
      if time != nil || upload.orderKey.map(keys.contains) == true {
        count += 1
        if let key = upload.orderKey { keys.insert(key) }
      }
      return true
    }
  }
}
