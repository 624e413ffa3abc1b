import Essentials
import Glibc

/// Measures a fleet of devices that follow a publication: what each thing costs, a month of many devices, and a morning of
/// real clients against nginx.
@main
struct Fleet {
  static func main() async {
    do {
      let options = try FleetOptions(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(FleetOptions.help) }
      let folder = try BenchFolder()
      defer { folder.remove() }
      if options.usesNginx { return try await Morning(options, folder).run() }
      if options.isShop { return try await Shop(options, folder).run() }
      let costs = try await UnitCosts(options, folder).run()
      try Month(options, costs).run()
    } catch let error as FleetOptions.Mistake {
      complain("\(error)")
      exit(64)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }
}

/// What the command line asks for.
struct FleetOptions {
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  var productCount = 100_000
  var real: String?
  var deviceCount = 100_000
  var clientCount = 2000
  var usesNginx = false
  var isShop = false
  var isQuick = false
  var seed: UInt64 = 1
  var wantsHelp = false

  static let help = """
    usage: fleet [--nginx | --shop] [options]

    Prints what a publication costs: a first base, deltas of 1, 100 and 1,000 rows and a poll without news, in bytes,
    requests and processor time, next to a server's answers with the same rows. Then simulates a month of many devices
    with the schedule of the daemon: polls, devices that are off, blackouts, outages and restarts.

      --products N   generated products; 100000
      --real DIR     real rows instead: DIR has products.ndjson.gz and relations.ndjson.gz
      --devices N    devices of the month; 100000
      --nginx        a morning of real clients against nginx on loopback instead: a cold start, polls, publications of up
                     to 2,000 products
      --clients N    their number; 2000
      --shop         100 devices with up to 20,000 products behind one line of 1 Mbit/s that is cut half of each hour
                     instead: two hours in six minutes
      --seed N       seed of the rows and of the month; 1
      --quick        2,000 products, 20,000 devices, 50 clients or 5 devices of a shop
    """

  init(_ arguments: [String]) throws(Mistake) {
    var rest = arguments[...]
    var given: Set<String> = []
    while let option = rest.popFirst() {
      given.insert(option)
      switch option {
      case "--help", "-h": wantsHelp = true
      case "--nginx": usesNginx = true
      case "--shop": isShop = true
      case "--quick": isQuick = true
      case "--real":
        guard let text = rest.popFirst() else { throw Mistake(description: "--real needs a directory") }
        real = text
      case "--products", "--devices", "--clients", "--seed":
        guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else {
          throw Mistake(description: "\(option) needs a number above 0")
        }
        switch option {
        case "--products": productCount = value
        case "--devices": deviceCount = value
        case "--clients": clientCount = value
        default: seed = UInt64(value)
        }
      default: throw Mistake(description: "unknown option \(option); see fleet --help")
      }
    }
    if productCount < 2000, given.contains("--products") {
      throw Mistake(description: "--products needs at least 2000, as 1,000 of them change")
    }
    if isQuick {
      if !given.contains("--products") { productCount = 2000 }
      if !given.contains("--devices") { deviceCount = 20_000 }
      if !given.contains("--clients") { clientCount = 50 }
    }
  }
}

/// Writes a line to standard error.
func complain(_ text: String) {
  let line = Array("fleet: \(text)\n".utf8)
  // The array is alive during the call.
  _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress!, $0.count) }
}
