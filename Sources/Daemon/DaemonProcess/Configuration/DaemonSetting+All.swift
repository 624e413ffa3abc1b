import ScanInputs
import UploadHTTP
import UploadQueue
import Workspace

extension DaemonSetting {
  /// The maximum duration of a setting, in seconds: 31 days.
  private static let month = 2_678_400.0

  /// All settings, in the order of the documentation.
  static let all: [DaemonSetting] = general + sealing + http + studio + sync + webhooks + inputs + matching + upkeep

  private static let general = [
    DaemonSetting(
      "root", .text, "$CATALOG_ROOT, $XDG_DATA_HOME/catalog, ~/.local/share/catalog", "the directory of the stores"),
    DaemonSetting("user", .text, "", "who is signed in at the start if nobody is"),
    DaemonSetting(
      "log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), "info",
      "what is logged, on the standard error"),
    DaemonSetting(
      "log.format", .choice(["auto", "text", "json"]), "auto", "auto: text on a terminal, else an object a line"),
    DaemonSetting(
      "drainSeconds", .number(0...3600), "10", "how long uploads on their way may take when the daemon ends"),
    DaemonSetting(
      "watchNetwork", .bool, "true",
      "whether what failed for want of a network goes at once when the network comes back (on Linux)"),
    DaemonSetting(
      "rematch", .bool, "false",
      "whether scans that could not be looked up are looked up later, and sent once more with the result"),
    DaemonSetting("exitAtEnd", .bool, "false", "whether the daemon ends when its standard input does"),
  ]

  private static let sealing = [
    DaemonSetting(
      "sealing.keyFile", .text, "",
      "the key of sealed users, a file of 32 bytes; else a credential shelfmark.key"),
    DaemonSetting(
      "sealing.keyCommand", .text, "", "a shell command that prints it, such as one that asks a vault"),
    DaemonSetting(
      "sealing.passphraseFile", .text, "", "a file whose first line is the passphrase of sealed users"),
    DaemonSetting(
      "sealing.newUsers", .bool, "",
      "whether the stores of new users are sealed; else the default store's setting, or false"),
  ]

  private static let http = [
    DaemonSetting("http.enabled", .bool, "true", "whether there is an HTTP interface"),
    DaemonSetting(
      "http.address", .text, "127.0.0.1:8765", "HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 takes a free one"),
    DaemonSetting(
      "http.socketMode", .choice(["0600", "0660", "0666"]), "0600",
      "unix:PATH: who may connect: the daemon's user, also its group, or everybody"),
    DaemonSetting(
      "http.token", .secret, "", "what callers show as a bearer token; needed beyond loopback and Unix sockets"),
    DaemonSetting("http.tokenFile", .text, "", "a file that holds the token"),
    DaemonSetting("http.maximumBodyBytes", .int(1024...1 << 30), "1048576", "the longest body of a request"),
    DaemonSetting(
      "http.requestsPerSecond", .number(0.01...1_000_000), "", "requests a second of one caller in the long run"),
    DaemonSetting(
      "http.requestBurst", .int(1...1_000_000), "200", "requests of one caller at once, where that is limited"),
    DaemonSetting(
      "http.maximumEventStreams", .int(0...10_000), "64",
      "listeners of events at once; never more than three of four connections"),
    DaemonSetting(
      "http.maximumConnections", .int(1...100_000), "256",
      "connections at once; an eighth is kept for /healthz, /readyz and what is about to end"),
    DaemonSetting(
      "http.maximumConnectionsPerAddress", .int(1...100_000), "",
      "the most connections of one address, else three quarters of all; raise it for a proxy"
    ),
    DaemonSetting(
      "http.names", .list, "",
      "host names, without a port, that it answers to as well: those of a proxy in front"),
    DaemonSetting(
      "http.allowedOrigins", .list, "",
      "pages that browsers may let ask, by their origin, such as https://till.example.org (CORS)"),
    DaemonSetting(
      "http.idleSeconds", .number(1...3600), "60", "how long a connection may idle, or a request take to arrive"),
  ]

  private static let studio = [
    DaemonSetting(
      "studio.enabled", .bool, "",
      "whether there are the pages of the studio, at /studio/; else only on loopback and Unix sockets"),
    DaemonSetting(
      "studio.edit", .bool, "false",
      "whether these pages may change documents and settings, undo commits, and decide on uploads"),
  ]

  private static let sync = [
    DaemonSetting("sync.url", .url, "", "where the catalogue comes from; without it, it stays as it is"),
    DaemonSetting(
      "sync.from", .url, "",
      "a file, a folder or a postgresql:// address that the catalogue comes from, instead of a server"),
    DaemonSetting(
      "sync.published", .url, "", "the folder of a publication that the catalogue follows, instead of a server"),
    DaemonSetting(
      "sync.rootKey", .text, "",
      "sync.published: a file with the publisher's root key, FILE.pub; without it, the first one is kept"),
    DaemonSetting(
      "sync.mirrors", .list, "", "sync.published: places that are asked first, such as http://till-1:8765/publication"),
    DaemonSetting(
      "sync.reportsUrl", .url, "",
      "sync.published: where to tell what this device has, when that changes, and else once a day"),
    DaemonSetting(
      "sync.reportsAuthorizationFile", .text, "", "sync.reportsUrl: a file that holds the Authorization header"),
    DaemonSetting(
      "publish.mirror", .bool, "false",
      "sync.published: whether its files are kept, and served to neighbours below /publication/ of http.address"),
    DaemonSetting("sync.fromFile", .text, "", "a file that holds it, for an address with a password"),
    DaemonSetting(
      "sync.mapFile", .text, "", "sync.from: a file with the mapping, as 'catalogctl import --save-map' writes it"),
    DaemonSetting(
      "sync.reconcileSeconds", .number(1...month), "3600",
      "sync.from: how often all rows are compared, even if nothing seems to have changed"),
    DaemonSetting(
      "sync.organisation", .text, "", "whose catalogue it is: users of one organisation share what is common"),
    DaemonSetting("sync.authorization", .secret, "", "the Authorization header, such as Bearer …"),
    DaemonSetting("sync.authorizationFile", .text, "", "a file that holds it"),
    DaemonSetting(
      "sync.intervalSeconds", .number(1...month), "300",
      "between synchronisations; with sync.from 10, for a database 60, with sync.published as the head says"
    ),
    DaemonSetting("sync.jitter", .number(0...1), "0.1", "the share by which the interval is longer or shorter"),
    DaemonSetting("sync.firstRetrySeconds", .number(0.1...month), "5", "the first pause after a failure; it doubles"),
    DaemonSetting(
      "sync.threshold", .int(1...1_000_000_000), "1000", "so many rows of an increment call for a full update"),
    DaemonSetting(
      "sync.maximumLoss", .number(0...1), "",
      "the share of products or codes an update may lose; unset, half of over 1,000; 1 also takes those without id"
    ),
    DaemonSetting(
      "sync.extra", .list, "", "keys of the server's products, beyond their fields, whose values are kept in extra"),
    DaemonSetting("sync.caFile", .text, "", "a PEM file of authorities to trust instead of the system's"),
    DaemonSetting("sync.connectSeconds", .number(0.1...3600), "10", "the longest time for a connection"),
    DaemonSetting("sync.idleSeconds", .number(0.1...3600), "30", "the longest silence of the server"),
    DaemonSetting(
      "sync.minimumRate", .int(0...1 << 30), "1000",
      "fewer bytes a second for 30 seconds end an attempt; 0 for no limit"),
  ]

  private static let webhooks = [
    DaemonSetting("webhooks.names", .list, "", "where scans are sent: a name each"),
    DaemonSetting("webhooks.NAME.url", .url, "", "the URL; {id} and {kind} are filled in"),
    DaemonSetting("webhooks.NAME.urlFile", .text, "", "a file that holds it, for a URL with a secret"),
    DaemonSetting("webhooks.NAME.headers", .secretList, "", "headers of each request, as Name: value"),
    DaemonSetting("webhooks.NAME.headersFile", .text, "", "a file with headers, one a line"),
    DaemonSetting("webhooks.NAME.authorizationFile", .text, "", "a file that holds the Authorization header"),
    DaemonSetting(
      "webhooks.NAME.secretFile", .text, "",
      "a file with the secret of signatures (Standard Webhooks)"),
    DaemonSetting(
      "webhooks.NAME.previousSecretFile", .text, "",
      "a file with the former one: while it is set, requests have two signatures"),
    DaemonSetting("webhooks.NAME.caFile", .text, "", "a PEM file of authorities to trust instead of the system's"),
    DaemonSetting("webhooks.NAME.gzip", .bool, "false", "whether bodies are packed"),
    DaemonSetting("webhooks.NAME.timeoutSeconds", .number(0.1...3600), "30", "how long one attempt may take"),
    DaemonSetting("webhooks.NAME.matches", .bool, "true", "whether scans that found something are sent"),
    DaemonSetting("webhooks.NAME.misses", .bool, "true", "whether scans that found nothing are sent"),
    DaemonSetting(
      "webhooks.NAME.maximumAttempts", .int(1...1_000_000), "6",
      "attempts before a scan that fails by itself is parked; outages of the receiver do not count"),
    DaemonSetting(
      "webhooks.NAME.firstPauseSeconds", .number(0.01...3600), "0.25", "the first pause after a failure; it doubles"),
    DaemonSetting(
      "webhooks.NAME.longestPauseSeconds", .number(0.01...86_400), "60", "the longest pause after a failure"),
    DaemonSetting(
      "webhooks.NAME.success", .text, "",
      "what an answer's JSON must meet besides a 2xx, such as status.code == 200; else the status decides"),
    DaemonSetting(
      "webhooks.NAME.acceptHTML", .bool, "false",
      "whether a web page with a 2xx is an answer; else it counts as a login page, and the scan is sent again"),
    DaemonSetting(
      "webhooks.NAME.onParked", .choice(ParkedUploadPolicy.allCases.map(\.rawValue)), "continue",
      "whether later scans of the same input wait for a decision when one is parked"),
    DaemonSetting(
      "webhooks.NAME.pauseOn", .list, UploadStatusPolicy.defaultPauseOn.map(\.description).joined(separator: ", "),
      "statuses that pause the webhook, such as 404 or 4xx"),
    DaemonSetting(
      "webhooks.NAME.parkOn", .list, UploadStatusPolicy.defaultParkOn.map(\.description).joined(separator: ", "),
      "statuses that park a scan after its attempts; others are tried again later"),
    DaemonSetting(
      "webhooks.NAME.batch.maximum", .int(1...10_000), "", "the most scans of one request; without it each goes alone"
    ),
    DaemonSetting(
      "webhooks.NAME.batch.lingerMilliseconds", .int(0...60_000), "0",
      "how long a scan waits for others while its batch is not full"),
    DaemonSetting(
      "webhooks.NAME.batch.format", .choice(UploadHTTPOptions.BatchFormat.allCases.map(\.rawValue)), "ndjson",
      "a line of JSON for each scan, or a JSON array"),
  ]

  private static let inputs = [
    DaemonSetting("inputs.names", .list, "stdin, if it is a pipe, a file or a terminal", "what is read: a name each"),
    DaemonSetting("inputs.NAME.kind", .choice(["stdin", "serial", "keyboard", "tcp", "socket"]), "", "what it is"),
    DaemonSetting("inputs.NAME.device", .text, "", "serial, keyboard: the device"),
    DaemonSetting("inputs.NAME.baud", .int(50...4_000_000), "9600", "serial: bits a second"),
    DaemonSetting(
      "inputs.NAME.answers", .bool, "false",
      "serial, tcp with connect: whether answers are written to the scanner"),
    DaemonSetting(
      "inputs.NAME.layout", .choice(["us", "de", "fr"]), "us", "keyboard: the layout that the scanner assumes"),
    DaemonSetting(
      "inputs.NAME.keys", .json, "",
      "keyboard: keys that stand for characters, such as {\"F8\": \"GS\"}"),
    DaemonSetting("inputs.NAME.grab", .bool, "true", "keyboard: whether nobody else gets what it types"),
    DaemonSetting(
      "inputs.NAME.reopenSeconds", .number(0.05...3600), "1",
      "serial, keyboard, tcp with connect: the pause before it is opened again"
    ),
    DaemonSetting("inputs.NAME.host", .text, "127.0.0.1", "tcp: the address to listen on"),
    DaemonSetting("inputs.NAME.port", .int(0...65_535), "", "tcp: the port to listen on; 0 takes a free one"),
    DaemonSetting(
      "inputs.NAME.allow", .list, "",
      "tcp with port: what may connect, such as 10.0.0.5 or 10.0.0.0/24; all without it"),
    DaemonSetting(
      "inputs.NAME.connect", .text, "",
      "tcp: a scanner that listens, HOST:PORT or [IPV6]:PORT, instead of host and port"),
    DaemonSetting("inputs.NAME.path", .text, "", "socket: the path"),
    DaemonSetting("inputs.NAME.maximumLineBytes", .int(16...1 << 20), "4096", "the longest line"),
    DaemonSetting(
      "inputs.NAME.end", .list, "cr, lf",
      "all but socket: what ends a code: cr, lf, crlf, tab, etx or a character of one byte"
    ),
    DaemonSetting(
      "inputs.NAME.silenceMilliseconds", .int(1...60_000), "",
      "all but socket: a pause that ends a code as well"),
    DaemonSetting(
      "inputs.NAME.encoding", .choice(TextEncoding.allCases.map(\.rawValue)), "utf-8",
      "how characters are bytes; keyboard: what numbers with Alt mean"),
    DaemonSetting("inputs.NAME.prefix", .text, "", "text that the scanner puts before each code; it is removed"),
    DaemonSetting("inputs.NAME.suffix", .text, "", "text that the scanner puts after each code; it is removed"),
    DaemonSetting(
      "inputs.NAME.separators", .text, "", "what the scanner sends for FNC1, instead of matching.separators"),
    DaemonSetting(
      "inputs.NAME.split", .bool, "false",
      "whether several codes in one transmission are answered each by itself"),
    DaemonSetting("inputs.NAME.doubleScanMilliseconds", .int(0...3_600_000), "", "as below, for this input"),
    DaemonSetting(
      "doubleScanMilliseconds", .int(0...3_600_000), "500", "for how long the same code is the same scan"),
  ]

  /// Without a default of their own: what is not set is as the stores say.
  private static let matching = [
    DaemonSetting(
      "matching.separators", .text, "",
      "what scanners send for FNC1 besides GS, such as {GS} or ~d029; else the stores' setting, or nothing"),
    DaemonSetting(
      "matching.measures", .json, "",
      "layouts of numbers with a weight, a price or a count; else the stores' setting, or none"),
    DaemonSetting(
      "matching.heads.minimum", .int(MatchingSettings.headLengths), "",
      "the shortest barcode that a code may begin with; else the stores' setting, or 4"),
    DaemonSetting(
      "matching.heads.digits", .int(MatchingSettings.headLengths), "",
      "the same for barcodes of digits, if the code is a sound GTIN; else the stores' setting, or 7"),
    DaemonSetting(
      "matching.heads.enabled", .bool, "",
      "whether a code may begin with a barcode; else the stores' setting, or true"),
    DaemonSetting(
      "matching.heads.excluded", .list, "",
      "symbologies without heads, such as CODE128 or ]A0; else the stores' setting, or none"),
    DaemonSetting(
      "matching.suggestions", .int(MatchingSettings.suggestionLimits), "",
      "products suggested for a code that is one edit from theirs and matches none; else the stores' setting, or 0"),
    DaemonSetting(
      "matching.sku", .choice(MatchingSettings.skuChoices), "",
      "whether a code that equals an SKU finds it; else the stores' setting, or suggest"),
    DaemonSetting(
      "matching.ignore", .list, "",
      "texts that are no codes, such as NOREAD; else the stores' setting, or none"),
  ]

  private static let upkeep = [
    DaemonSetting(
      "compaction.intervalSeconds", .number(0...month), "600", "how often is looked whether to compact; 0 for never"),
    DaemonSetting(
      "compaction.maximumScansPerSecond", .number(0...1_000_000), "50", "compaction waits while there are more"),
    DaemonSetting(
      "forget.uploadsAfterDays", .number(0.01...36_500), "",
      "the age at which uploads are given up, parked ones too; without it none is"),
    DaemonSetting(
      "forget.missesAfterDays", .number(0.01...36_500), "",
      "how long after its last miss a code leaves the journal; without it none does"),
    DaemonSetting(
      "forget.sessionsAfterDays", .number(0.01...36_500), "",
      "how long after its end a set session is removed with its scans; without it none is"),
    DaemonSetting("misses.maximum", .int(1...1_000_000), "10000", "codes in the journal of misses"),
    DaemonSetting("sessions.maximum", .int(1...1_000_000), "1000", "set sessions at once"),
    DaemonSetting("sessions.maximumScans", .int(1...1_000_000), "10000", "scans of one set session"),
    DaemonSetting("events.capacity", .int(1...1_000_000), "1000", "events kept for those who come back for them"),
  ]
}
