import DaemonConfiguration
import Foundation
import ScanDaemon

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The scanning daemon.
@main struct Catalogd {
  static func main() async {
    // A reader that goes away is an error of the write, which says so.
    signal(SIGPIPE, SIG_IGN)
    Foundation.exit(await code())
  }

  private static func code() async -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    do throws(ConfigurationFaults) {
      let options = try CommandLineOptions(Array(CommandLine.arguments.dropFirst()), environment: environment)
      switch options.action {
      case .showHelp:
        Console.print(CommandLineOptions.help)
        return 0
      case .showVersion:
        Console.print("catalogd \(Daemon.version)\n")
        return 0
      case .checkConfiguration:
        let configuration = try DaemonConfiguration(sources(options, environment))
        check(configuration)
        return 0
      case .run:
        // Read anew for each reload: files change, arguments and variables do not.
        let read: Supervisor.Read = { () throws(ConfigurationFaults) in
          try DaemonConfiguration(sources(options, environment))
        }
        return await Supervisor(try read(), read: read, environment: environment).run()
      }
    } catch {
      for fault in error.faults { Console.say("\(fault)") }
      return error.exitCode
    }
  }

  private static func sources(_ options: CommandLineOptions, _ environment: [String: String]) -> ConfigurationSources {
    ConfigurationSources(
      arguments: options.settings, environment: environment, file: options.file, hasStandardInput: StandardInputKind.isReadable)
  }

  /// Tells what a configuration says.
  private static func check(_ configuration: DaemonConfiguration) {
    for warning in configuration.warnings { Console.say("warning: \(warning)") }
    Console.print(configuration.settings.map { $0.description + "\n" }.joined())
    Console.say("the configuration is good")
  }
}

/// What people are told outside of the log.
enum Console {
  /// A line on the standard error.
  static func say(_ line: String) { write("catalogd: \(line)\n", to: 2) }

  /// A text on the standard output.
  static func print(_ text: String) { write(text, to: 1) }

  /// Nobody is told of what nobody reads.
  private static func write(_ text: String, to descriptor: Int32) {
    try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: Data(text.utf8))
  }
}

/// What the standard input is.
enum StandardInputKind {
  /// Whether codes may come from it: it is a pipe, a socket, a file or a terminal, and not `/dev/null`.
  static var isReadable: Bool {
    var status = stat()
    // The structure lives for the call.
    guard unsafe fstat(0, &status) == 0 else { return false }
    let kinds: [mode_t] = [S_IFIFO, S_IFSOCK, S_IFREG]
    return kinds.contains(mode_t(status.st_mode) & S_IFMT) || isatty(0) == 1
  }
}
