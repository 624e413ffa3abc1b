import Catalog
package import CatalogSources
public import CatalogHTTP
public import UploadHTTP
public import UploadQueue
public import Workspace

/// The configuration of a daemon.
public struct DaemonOptions: Sendable {
  /// The root directory of the stores. Only one daemon at a time can use it.
  public var root: String
  /// The user to sign in at the start if no user is signed in.
  public var user: String?
  /// Where the key of sealed users comes from; `nil` if there is none. It is read at the start, again with
  /// ``Daemon/renewKey()``, and from time to time while it does not open the stores of the signed-in user.
  public var key: KeySource?
  /// Whether the stores of users that sign in for the first time are sealed; `nil` to do as the setting `sealing.newUsers` of
  /// the default store says. Without a key, such a user cannot sign in then.
  public var sealsNewUsers: Bool?
  /// The server that the catalogue is synchronised with; `nil` to use the catalogue on disk as it is.
  public var sync: SyncOptions?
  /// The webhooks that answered scans are sent to. Names must be unique.
  public var webhooks: [WebhookOptions] = []
  /// For each input name, the time within which reading the same code again counts as the same scan; zero turns this
  /// off.
  public var doubleScanWindows: [String: Duration] = [:]
  /// The window for inputs that ``DaemonOptions/doubleScanWindows`` does not name. It does not apply to `http`, which
  /// has no window unless it is named there.
  public var doubleScanWindow: Duration = .milliseconds(500)
  /// How scans are parsed and matched. What is set here overrides the settings `matching.…` of the stores.
  public var matching = MatchingSettings()
  /// The texts that scanners send instead of FNC1, by input. They override those of ``DaemonOptions/matching`` and of
  /// the stores; see `ScanConfiguration.separators(in:)`. A text of only digits is a programmer's error.
  public var inputSeparators: [String: [String]] = [:]
  /// The inputs whose reader sends several codes in one transmission at times: each of them is answered by itself, if
  /// the catalogue has the first; see `Match.gluedCodes`.
  public var splitInputs: Set<String> = []
  /// The number of events that are kept for listeners that reconnect.
  public var eventCapacity = 1000
  /// Whether to watch the system's interfaces, addresses and routes (on Linux only). When the network comes back, a
  /// failed synchronisation and uploads that got no response are retried at once. Has no effect without a server and
  /// webhooks.
  public var watchesNetwork = true
  /// Whether scans that could not be looked up are looked up later and sent as second events; see
  /// ``ScanAnswer/rematches``.
  public var rematches = false
  /// When to compact the stores.
  public var compaction = CompactionOptions()
  /// The time that uploads in flight are given to finish when the daemon shuts down.
  public var drainTimeout: Duration = .seconds(10)
  /// The maximum number of scans in one set session.
  public var maximumScansPerSession = 10_000
  /// The maximum number of open sessions of a user, and of closed sessions that are kept.
  public var maximumSessions = 1000
  /// How long uploads, misses and sessions are kept.
  public var forgetting = ForgettingOptions()
  /// The maximum number of codes in the miss journal. When it is full, the codes missed longest ago are removed.
  public var maximumMisses = 10_000

  /// The name in the queue of the reports about the publication.
  package static let reportsName = PublicationReports.kind
  /// The maximum number of users, besides the one who is signed in, whose uploads are sent at the same time.
  package var maximumUploadWorkers = UploadService.maximumWorkers
  /// The maximum number of users whose documents stay open while they are not in use.
  package var maximumOpenDocuments = UserDocumentsTable.maximumCount

  /// Which operations on documents to log, as `CATALOG_TRACE` names them: `all` or `slow`, with `,redacted` after it or
  /// not; `nil` for none.
  public var documentTrace: String?

  /// Creates the default options, with which the daemon answers scans and contacts no server.
  public init(root: String) { self.root = root }
}

/// How the catalogue is kept up to date.
public struct SyncOptions: Sendable {
  /// The server's URL, with the scheme `http` or `https`; empty if a file, a folder or a database is the source.
  public var url: String
  /// The file, folder or database that the catalogue comes from, in place of a server.
  package var source: CatalogueSource?
  /// The publication that the catalogue follows, in place of a server.
  package var publication: PublicationOptions?
  /// The organisation that the catalogue belongs to. The users of an organisation share its common data.
  public var organisation: String?
  /// The options of the HTTP transport. At most two attempts are made per synchronisation, whatever the retry policy
  /// allows, because the schedule retries as well.
  public var transport = TransportOptions()
  /// The interval between synchronisations.
  public var interval: Duration = .seconds(300)
  /// The share, 0 to 1, by which the interval is randomly shortened or lengthened, so that a thousand daemons do not
  /// send their requests at the same moment.
  public var jitter = 0.1
  /// The first back-off after a failure. It doubles with each further failure, up to the interval.
  public var firstRetry: Duration = .seconds(5)
  /// The number of rows in one list of an increment from which a full update is requested instead.
  public var threshold = 1000
  /// The maximum share of products, and of their codes, that a full update may remove, whatever their number; `nil` for
  /// half of them where there are more than 1,000. 1 also accepts responses whose products have no id of their own.
  public var maximumLoss: Double?

  /// The keys of the server's products, other than their fields, whose values are kept in `extra`.
  public var extraKeys: Set<String> = []

  /// The limit for ``maximumLoss``.
  var lossLimit: LossLimit {
    guard let maximumLoss else { return LossLimit() }
    return LossLimit(share: maximumLoss, smallCatalogue: 0)
  }

  /// Creates options for the server's URL, which may contain a query.
  public init(url: String) { self.url = url }

  /// Creates options for a publication.
  package init(publication: PublicationOptions) {
    url = ""
    self.publication = publication
  }

  /// Creates options for a file, a folder or a database. A file is checked each ten seconds, and a database
  /// queried each minute.
  package init(source: CatalogueSource) {
    url = ""
    self.source = source
    interval = source.database == nil ? .seconds(10) : .seconds(60)
  }
}

/// A webhook that scans are sent to.
public struct WebhookOptions: Sendable {
  /// The name: 1 to 64 letters, digits, `-` and `_`.
  public var name: String
  /// The URL. `{id}` and `{kind}` in it are replaced by the upload's id and the webhook's name.
  public var url: String
  /// Headers that are added to each request.
  public var headers: [(name: String, value: String)] = []
  /// The secrets that requests are signed with, the current one first; empty to send unsigned requests.
  public var secrets: [WebhookSecret] = []
  /// A PEM file of certificates to trust *instead of* the system's, for example of a company's own certificate
  /// authority.
  public var certificateAuthorityFile: String?
  /// Whether bodies are compressed with gzip.
  public var isCompressed = false
  /// The timeout of one attempt.
  public var timeout: Duration = .seconds(30)
  /// The retry policy: when a failed upload is retried, what each status means, and when a scan is parked. By default,
  /// a scan that the receiver refuses is parked after six attempts. An outage parks nothing, however few scans there
  /// are; attempts continue at most one minute apart for as long as it lasts.
  public var retry = WebhookOptions.patient
  /// The condition that the JSON of a response must meet, in addition to a 2xx status, for a scan to count as
  /// delivered; `nil` if the status alone decides.
  public var success: UploadSuccessRule?
  /// Whether a web page (HTML) with a 2xx status counts as delivered. If not, it is a login page or a proxy's page, and
  /// the scan is sent again.
  public var acceptsHTML = false
  /// Whether later scans of the same input wait after one is parked, until a person decides about it.
  public var onParked = ParkedUploadPolicy.continue
  /// How many scans of an input one request contains; `nil` to send each scan on its own.
  public var batch: UploadBatchOptions?
  /// The format of a request's body that contains several scans.
  public var batchFormat = UploadHTTPOptions.BatchFormat.ndjson
  /// Whether scans that matched something are sent.
  public var sendsMatches = true
  /// Whether scans that matched nothing are sent.
  public var sendsMisses = true

  /// Whether scans are sent at all; a target of other uploads takes none.
  package var takesScans = true

  /// Creates options that send every scan to a URL.
  ///
  /// - Parameters:
  ///   - name: The name of the webhook: 1 to 64 letters, digits, `-` and `_`, unique in the daemon.
  ///   - url: The http or https URL, with `{id}` and `{kind}` as optional placeholders.
  public init(name: String, url: String) {
    self.name = name
    self.url = url
  }

  /// Retries a scan that fails by itself five times within eight seconds, so three such scans in a row hold up their
  /// input for less than half a minute. An outage does not count towards the limit, however long it lasts.
  package static var patient: UploadRetryPolicy {
    var policy = UploadRetryPolicy()
    policy.maximumRetries = 5
    policy.countsOutages = false
    policy.firstPause = .milliseconds(250)
    policy.longestPause = .seconds(60)
    policy.longestRetryAfter = .seconds(3600)
    policy.maximumInterruptions = 1_000_000
    return policy
  }
}

/// When to compact the stores.
public struct CompactionOptions: Sendable {
  /// The interval between checks whether compaction is worthwhile; `nil` to disable background compaction.
  public var interval: Duration? = .seconds(600)
  /// The rate of answered scans per second above which compaction is postponed.
  public var maximumScansPerSecond = 50.0

  /// Creates the default options: the stores are checked every ten minutes.
  public init() {}
}
