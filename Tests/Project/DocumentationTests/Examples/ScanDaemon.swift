// The example of Sources/Daemon/ScanDaemon/ScanDaemon.docc/ScanDaemon.md
import Logging
import ScanDaemon
import ScanInputs
import ServiceLifecycle

/// A custom input: the codes that a camera recognises.
struct Camera: Service {
  let codes: AsyncStream<String>
  let handler: any ReadingHandler
  let show: @Sendable (String) -> Void

  func run() async throws {
    handler.note(.opened("camera"), input: "camera")
    for await code in codes.cancelOnGracefulShutdown() {
      let answer = await handler.answer(Reading(input: "camera", code: code))
      if !answer.isRepeat { show(String(decoding: answer.line, as: UTF8.self)) }
    }
    handler.note(.closed(reason: "the camera is off", reopens: false), input: "camera")
  }
}

/// Answers a camera's codes until the stream ends or the process receives SIGTERM. If there is a server, all recorded
/// scans are sent to it.
func watch(
  _ codes: AsyncStream<String>, for user: String, in directory: String, server: String? = nil,
  show: @escaping @Sendable (String) -> Void
) async throws {
  var options = DaemonOptions(root: directory)
  options.user = user
  // A camera reads the same label for a long time.
  options.doubleScanWindows["camera"] = .seconds(60)
  if let server {
    options.sync = SyncOptions(url: server + "/catalogue")
    options.webhooks = [WebhookOptions(name: "stock", url: server + "/scans")]
  }
  let logger = Logger(label: "watch")
  let daemon = try Daemon(options, logger: logger)
  let camera = Camera(codes: codes, handler: daemon, show: show)
  let group = ServiceGroupConfiguration(
    services: daemon.services.map { .init(service: $0) }
      + [.init(service: camera, successTerminationBehavior: .gracefullyShutdownGroup)],
    gracefulShutdownSignals: [.sigterm], logger: logger)
  try await ServiceGroup(configuration: group).run()
}
