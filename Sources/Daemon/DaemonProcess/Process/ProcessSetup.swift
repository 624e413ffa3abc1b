import CoreMetrics
import Logging
import Platform
import ScanDaemon

/// State that the process has once, however often its configuration is reloaded.
struct ProcessSetup: Sendable {
  let logSettings: LogSettings
  let logOutput: LogOutput
  let registry: PrometheusRegistry
  /// The maximum number of open files.
  let descriptorLimit: Int

  /// Sets up the log on standard error, and the metrics. Must be called once per process.
  init(_ configuration: DaemonConfiguration, descriptorLimit: Int) {
    self.descriptorLimit = descriptorLimit
    let settings = LogSettings(level: configuration.logLevel, style: Self.style(configuration.logFormat))
    let output = LogOutput(descriptor: 2, settings: settings)
    LoggingSystem.bootstrap { DaemonLogHandler(label: $0, settings: settings, write: output.write) }
    registry = PrometheusRegistry()
    MetricsSystem.bootstrap(registry)
    ProcessMetrics.add(to: registry)
    let build = [("version", Daemon.version), ("compiler", Self.compiler)]
    Gauge(label: "shelfmark_build_info", dimensions: build, factory: registry).record(1)
    for (name, sentence) in Self.descriptions { registry.describe(name, sentence) }
    logSettings = settings
    logOutput = output
  }

  /// Applies a configuration's log settings.
  func apply(_ configuration: DaemonConfiguration) {
    logSettings.level = configuration.logLevel
    logSettings.style = Self.style(configuration.logFormat)
  }

  private static func style(_ format: DaemonConfiguration.LogFormat) -> LogStyle {
    switch format {
    case .auto: isatty(2) == 1 ? .text : .json
    case .text: .text
    case .json: .json
    }
  }

  #if swift(>=6.4)
  private static let compiler = "Swift 6.4 or later"
  #else
  private static let compiler = "Swift 6.3"
  #endif

  private static let descriptions = [
    "shelfmark_build_info": "1, with the version of the daemon and its compiler as labels.",
    "shelfmark_problem": "How many problems there are now, by their code; /v1/status tells them.",
    "shelfmark_input_up": "1 while an input is open, by input.",
    "shelfmark_input_connections": "Connections of an input that listens, by input.",
    "shelfmark_rematches_total": "Scans that were looked up again, by how they matched.",
    "shelfmark_first_answers_total":
      "Scans that a publication was asked for while there was no catalogue, by outcome: found, missing, unknown or failed.",
    "shelfmark_http_requests_total": "Answered requests, by route, method and status.",
    "shelfmark_http_connections": "Connections that are open.",
    "shelfmark_scans_total": "Answered scans, by input and by how they matched.",
    "shelfmark_repeats_total": "Double scans, by input.",
    "shelfmark_input_faults_total": "Lines that were refused or not decoded, and lost answers, by input and fault.",
    "shelfmark_connections_refused_total": "Refused connections, by input and reason.",
    "shelfmark_answer_seconds": "From a reading to its answer, what is recorded included.",
    "shelfmark_record_seconds": "The recording of a scan, from its request to its durable commit.",
    "shelfmark_unrecorded_total": "Scans that were to be recorded and could not be.",
    "shelfmark_misses_lost_total": "Misses that came too fast for the journal.",
    "shelfmark_queue_waiting": "Uploads that wait, of who is signed in.",
    "shelfmark_queue_parked": "Uploads that were given up, of who is signed in.",
    "shelfmark_uploads_parked": "Parked uploads of all users, by webhook.",
    "shelfmark_keys_held": "Order keys that wait for a decision about a parked upload, by webhook.",
    "shelfmark_uploads_waiting": "Uploads of all users that wait or are being sent, by webhook.",
    "shelfmark_uploads_oldest_seconds": "Seconds since the oldest waiting upload was recorded, by webhook; 0 if none.",
    "shelfmark_forgotten_total": "What was removed because it was too old, by kind: uploads, misses or sessions.",
    "shelfmark_uploads_total": "Attempts to send, by webhook and outcome.",
    "uploads_events_total": "What happened to uploads of all users, by event.",
    "uploads_commit_seconds": "One commit of a queue of uploads.",
    "uploads_commit_calls_total": "Calls that shared the commits of queues.",
    "uploads_store_failures_total": "What queues could not write, and try again.",
    "uploads_breaker_open": "1 while a webhook is left alone because it fails.",
    "documents_operation_seconds": "What is looked up in documents of all users, by collection and operation.",
    "documents_read_total": "Documents that were read, by collection and operation.",
    "documents_affected_total": "Documents that were written, deleted or found, by collection and operation.",
    "documents_scans_total": "Searches that no index helped, by collection and operation.",
    "shelfmark_syncs_total": "Synchronisations, by outcome.",
    "shelfmark_sync_seconds": "One synchronisation.",
    "shelfmark_network_returns_total": "How often the network came back.",
    "shelfmark_catalogue_age_seconds": "Since the catalogue was last known to be current.",
    "shelfmark_catalogue_products": "Products of the catalogue.",
    "shelfmark_catalogue_codes": "Codes of the catalogue's table of codes.",
  ]
}
