import Dispatch
import Documents
import Essentials
import LogStore
import Platform
import ScanDaemon
import StoreMetrics
import Workspace

/// The scanning daemon as a process.
package enum DaemonProgram {
  /// Runs the daemon, or what the arguments ask for instead, and ends the process.
  package static func main() -> Never {
    // Before any file is opened, which would get the descriptor of a closed stream.
    do { _ = try StandardStreams.openMissing() } catch {
      DaemonConsole.say("\(error)")
      exit(ExitStatus.io.rawValue)
    }
    // A closed pipe is reported as a write error.
    signal(SIGPIPE, SIG_IGN)
    // A file size limit is reported as a write error too.
    signal(SIGXFSZ, SIG_IGN)
    // A store that is truncated, or whose disk fails, is reported and does not end the process.
    do { try MappingGuard.install() } catch {
      DaemonConsole.say("stores whose files are truncated will end the daemon: \(error)")
    }
    Task { @MainActor in exit(await code()) }
    dispatchMain()
  }

  private static func code() async -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    do throws(ConfigurationFaults) {
      let options = try CommandLineOptions(Array(CommandLine.arguments.dropFirst()), environment: environment)
      switch options.action {
      case .showHelp:
        return DaemonConsole.print(CommandLineOptions.help)
      case .showVersion:
        return DaemonConsole.print("catalogd \(Daemon.version)\n")
      case .checkConfiguration:
        let configuration = try DaemonConfiguration(
          sources(options, environment, rootProblem: RootDirectory.obstacle))
        return try check(configuration, file: options.file)
      case .run:
        let trace = environment[Tracer.environmentVariable].flatMap { $0.isEmpty ? nil : $0 }
        if let trace, Tracer.named(trace) == nil {
          DaemonConsole.say(
            "\(Tracer.environmentVariable) is \"\(trace)\"; it names all, slow, or one of them with ,redacted")
          return ExitStatus.usage.rawValue
        }
        // Read again for each reload: the file may change, arguments and variables do not.
        let read: Supervisor.Read = { () throws(ConfigurationFaults) in
          var configuration = try DaemonConfiguration(sources(options, environment))
          configuration.daemon.documentTrace = trace
          return configuration
        }
        // From now on SIGHUP does not end the process; the configuration is read now in any case.
        signal(SIGHUP, SIG_IGN)
        let configuration = try read()
        let limit = DescriptorLimit.raise()
        let least = DescriptorLimit.least(for: configuration)
        guard limit >= least else {
          DaemonConsole.say(
            "only \(limit) files may be open at once, and the daemon needs \(least) at least: raise the limit, with `ulimit -n`"
              + " in a shell or `LimitNOFILE` in a unit of systemd")
          return ExitStatus.io.rawValue
        }
        let setup = ProcessSetup(configuration, descriptorLimit: limit)
        return await Supervisor(configuration, setup, read: read, environment: environment).run()
      }
    } catch {
      for fault in error.faults { DaemonConsole.say("\(fault)") }
      return error.exitCode
    }
  }

  private static func sources(
    _ options: CommandLineOptions, _ environment: [String: String],
    rootProblem: (@Sendable (String) -> String?)? = nil
  ) -> ConfigurationSources {
    ConfigurationSources(
      arguments: options.settings, environment: environment, file: options.file,
      hasStandardInput: StandardStreams.inputIsReadable, rootProblem: rootProblem)
  }

  /// Prints a configuration.
  private static func check(_ configuration: DaemonConfiguration, file: String?) throws(ConfigurationFaults) -> Int32 {
    for warning in configuration.warnings { DaemonConsole.say("warning: \(warning)") }
    var workspace = WorkspaceDirectory(root: configuration.daemon.root)
    workspace.key = configuration.daemon.key
    do {
      let user = try workspace.currentUser()
      let faults = configuration.faults(signedIn: user)
      if !faults.isEmpty { throw ConfigurationFaults(faults: faults) }
      let expected = user ?? configuration.daemon.user
      if checkKey(of: expected, in: workspace) { checkStores(configuration, of: expected, in: workspace) }
    } catch let error as ConfigurationFaults {
      throw error
    } catch {
      DaemonConsole.say("warning: it cannot be told who is signed in: \(error)")
    }
    let code = DaemonConsole.print(configuration.settings.map { $0.description + "\n" }.joined())
    if code == 0 {
      DaemonConsole.say(
        file.map { "the configuration is good, with the file \($0)" }
          ?? "the configuration is good; no file was read, as --config names none")
    }
    return code
  }

  /// Warns of a key that cannot be read, or does not open the stores of the user.
  ///
  /// - Returns: Whether those can be opened.
  private static func checkKey(of user: String?, in workspace: WorkspaceDirectory) -> Bool {
    do throws(KeyError) {
      try workspace.renewKey(for: user)
    } catch {
      DaemonConsole.say("warning: the key of sealed users: \(error)")
      return user.map { workspace.keyFault(of: $0) == nil } ?? true
    }
    guard let user, let fault = workspace.keyFault(of: user) else { return true }
    DaemonConsole.say("warning: the stores of \(user) cannot be opened: \(fault)")
    return false
  }

  /// Warns of stored settings that the daemon could not use. Those that the configuration overrides do not matter.
  private static func checkStores(
    _ configuration: DaemonConfiguration, of user: String?, in workspace: WorkspaceDirectory
  ) {
    var settings = configuration.daemon.matching
    do {
      if let user {
        try settings.fill(from: workspace.settings(of: user).snapshot(), of: user) {
          DaemonConsole.say("warning: \($0)")
        }
      }
      try settings.fill(from: workspace.settings(of: nil).snapshot(), of: nil) { DaemonConsole.say("warning: \($0)") }
    } catch {
      DaemonConsole.say("warning: the settings of the stores cannot be read: \(error)")
    }
  }
}

extension StandardStreams {
  /// Whether codes may come from standard input: it is a pipe, a socket, a file or a terminal, and not `/dev/null`.
  static var inputIsReadable: Bool {
    var status = stat()
    // The structure lives during the call.
    guard unsafe fstat(0, &status) == 0 else { return false }
    let kinds: [mode_t] = [S_IFIFO, S_IFSOCK, S_IFREG]
    return kinds.contains(mode_t(status.st_mode) & S_IFMT) || isatty(0) == 1
  }
}
