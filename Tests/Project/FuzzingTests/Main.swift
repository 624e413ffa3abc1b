import CFuzzer
import Glibc

/// Runs libFuzzer with the harness that `SHELFMARK_FUZZ` names; the arguments are libFuzzer's. Without a name it lists
/// the harnesses, each with the longest input that is worth a try.
@main enum Main {
  /// Chosen once, before libFuzzer begins. An argument would not do: libFuzzer takes each for its own.
  static let harness: Harness = {
    // The environment does not change while this is read.
    let name = unsafe getenv("SHELFMARK_FUZZ").map { unsafe String(cString: $0) }
    guard let name, let harness = Harness.named(name) else {
      for harness in Harness.all { print(harness.name, harness.maximumLength) }
      exit(name == nil ? 0 : 64)
    }
    return harness
  }()

  static func main() {
    _ = harness
    // The arguments live as long as the process.
    var count = CommandLine.argc
    var arguments = unsafe Optional(CommandLine.unsafeArgv)
    let status = unsafe LLVMFuzzerRunDriver(&count, &arguments) { start, count in
      // The bytes live as long as the call.
      Main.harness.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
      return 0
    }
    exit(status)
  }
}
