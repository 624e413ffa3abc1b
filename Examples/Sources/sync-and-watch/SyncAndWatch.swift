import CatalogHTTP
import Shelfmark

/// Keeps a user's catalogue up to date and prints the products that change: `sync-and-watch ROOT USER URL [TIMES]`
///
/// It sends a request every two seconds, TIMES times or until it is stopped.
@main
struct SyncAndWatch {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4 else {
      print("usage: sync-and-watch ROOT USER URL [TIMES]")
      return
    }
    let workspace = try Workspace.open(arguments[1])
    defer { workspace.close() }
    try workspace.signIn(arguments[2])
    let stores = try workspace.stores()
    let synchronizer = Synchronizer(try HTTPTransport(url: arguments[3]))
    let times = arguments.count > 4 ? Int(arguments[4]) ?? 1 : .max

    var known = try stores.catalogue()
    for round in 1...times {
      do {
        // One step of the protocol: an increment if that is enough, a full update if it is not. Durable when it returns.
        print(try await stores.synchronize(synchronizer, from: nil).report)
        let now = try stores.catalogue()
        for change in try now.changes(since: known).products.prefix(10) {
          print("\(change.name): \(change.after?.name ?? change.before?.name ?? "")")
        }
        known = now
      } catch {
        // The catalogue is unchanged. The next round tries again.
        print("not synchronised: \(error)")
      }
      if round < times { try await Task.sleep(for: .seconds(2)) }
    }
  }
}
