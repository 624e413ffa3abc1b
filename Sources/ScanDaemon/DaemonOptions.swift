public import CatalogHTTP
public import UploadHTTP
public import UploadQueue

/// What a daemon does.
public struct DaemonOptions: Sendable {
  /// The root directory of the stores. For one daemon at a time.
  public var root: String
  /// Who is signed in at the start if nobody is.
  public var user: String?
  /// Where the catalogue comes from; `nil` takes it as it lies on the disk.
  public var sync: SyncOptions?
  /// Where each answered scan is sent. Names are unique.
  public var webhooks: [WebhookOptions] = []
  /// For how long a code that an input reads again is the same scan, by the name of the input; zero for no time at all.
  public var doubleScanWindows: [String: Duration] = [:]
  /// The same for inputs that are not named there, but for `http`, which has no window unless it is named.
  public var doubleScanWindow: Duration = .milliseconds(500)
  /// How many events are kept for those who come back for them.
  public var eventCapacity = 1000
  /// Whether it is listened to what the system says of its interfaces, addresses and routes (on Linux): when the network comes back,
  /// a synchronisation that failed and uploads that got no answer go at once. Without a server and webhooks there is no need to.
  public var watchesNetwork = true
  /// Whether scans that could not be looked up are looked up later and sent as second events; see ``ScanAnswer/rematches``.
  public var rematches = false
  /// When the stores are compacted.
  public var compaction = CompactionOptions()
  /// How long uploads that are on their way may take when the daemon ends.
  public var drainTimeout: Duration = .seconds(10)
  /// Most scans that one set session takes.
  public var maximumScansPerSession = 10_000
  /// Most sessions of a user that are open at once, and most closed ones that are kept.
  public var maximumSessions = 1000
  /// Most codes of the miss journal; the ones that were missed longest ago make room.
  public var maximumMisses = 10_000

  /// What a daemon does without being told otherwise: it answers, and asks no server.
  public init(root: String) { self.root = root }
}

/// How the catalogue is kept current.
public struct SyncOptions: Sendable {
  /// Where the server is asked, with `http` or `https`.
  public var url: String
  /// Whose catalogue it is: users of one organisation share what is common.
  public var organisation: String?
  /// How it is asked. At most two attempts are made at once, whatever its retry policy says: the schedule tries again.
  public var transport = TransportOptions()
  /// From one synchronisation to the next.
  public var interval: Duration = .seconds(300)
  /// The interval is shorter or longer by up to this share, 0 to 1, so that a thousand daemons do not ask at once.
  public var jitter = 0.1
  /// After a failure: the first pause, doubled with each further failure up to the interval.
  public var firstRetry: Duration = .seconds(5)
  /// So many rows in one list of an increment call for a full update.
  public var threshold = 1000
  /// The share of products that a full update may lose. 1 also takes answers whose products have no id of their own.
  public var maximumLoss = 0.5

  /// Creates options for the server's URL, which may contain a query.
  public init(url: String) { self.url = url }
}

/// Where scans are sent.
public struct WebhookOptions: Sendable {
  /// 1 to 64 letters, digits, `-` and `_`.
  public var name: String
  /// Where to, with `{id}` and `{kind}` in place of the upload's id and the webhook's name, if they are to be in it.
  public var url: String
  /// Each header of each request.
  public var headers: [(name: String, value: String)] = []
  /// The secrets by which requests are signed, the present one first; none without a signature.
  public var secrets: [WebhookSecret] = []
  /// Whether bodies are packed with gzip.
  public var isPacked = false
  /// The longest time for one attempt.
  public var timeout: Duration = .seconds(30)
  /// When what failed goes again, what a status means, and when a scan is parked. Without another one: a scan that the receiver
  /// refuses is parked after six attempts; during an outage, which parks nothing, it is tried at most a minute apart, for as long as that lasts.
  public var retry = WebhookOptions.patient
  /// What the JSON of an answer must meet for a scan to count as delivered, besides a 2xx. Without it the status alone decides.
  public var success: UploadSuccessRule?
  /// Whether later scans of the same input wait when one is parked, until somebody decides about it.
  public var onParked = OnParked.continue
  /// How many scans of an input go in one request; `nil` sends each alone.
  public var batch: UploadBatchOptions?
  /// What the body of a request with several scans is.
  public var batchFormat = UploadHTTPOptions.BatchFormat.ndjson
  /// Whether scans that found something are sent.
  public var sendsMatches = true
  /// Whether scans that found nothing are sent.
  public var sendsMisses = true

  /// Creates options that send every scan to a URL.
  ///
  /// - Parameters:
  ///   - name: The name of the webhook: 1 to 64 letters, digits, `-` and `_`, unique in the daemon.
  ///   - url: The http or https URL, with `{id}` and `{kind}` as optional placeholders.
  public init(name: String, url: String) {
    self.name = name
    self.url = url
  }

  /// Five repetitions of a scan that fails by itself, within eight seconds: three such scans one after another hold up their input for less
  /// than half a minute. An outage does not count, however long it lasts.
  public static var patient: UploadRetryPolicy {
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

/// When the stores are compacted.
public struct CompactionOptions: Sendable {
  /// How often is looked whether it is worth it; `nil` never compacts in the background.
  public var interval: Duration? = .seconds(600)
  /// It waits while more scans a second are answered.
  public var maximumScansPerSecond = 50.0

  /// Creates the default options: the stores are checked every ten minutes.
  public init() {}
}
