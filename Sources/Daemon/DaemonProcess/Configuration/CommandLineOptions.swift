/// The command-line options of `catalogd`.
package struct CommandLineOptions: Sendable, Equatable {
  /// The action to perform.
  package enum Action: Sendable, Equatable {
    case run, checkConfiguration, showHelp, showVersion
  }

  /// The action to perform. Help takes precedence over the version, and the version over a check.
  package var action = Action.run
  /// The path of the configuration file, which is the last source of settings.
  package var file: String?
  /// The remaining arguments, which are settings.
  package var settings: [String] = []

  /// Separates the options of the program itself from the settings.
  ///
  /// - Parameters:
  ///   - arguments: The arguments without the program's name.
  ///   - environment: The environment. `CATALOGD_CONFIG` is the path of the file if no argument gives one.
  /// - Throws: ``ConfigurationFaults`` for an option without its value.
  package init(_ arguments: [String], environment: [String: String] = [:]) throws(ConfigurationFaults) {
    // Invalid UTF-8 arrives as U+FFFD, which would be another path or another user.
    for argument in arguments where argument.unicodeScalars.contains("\u{FFFD}") {
      let fault = ConfigurationFault(nil, value: argument, source: .argument("argument"), "is not valid UTF-8")
      throw ConfigurationFaults(faults: [fault])
    }
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": action = .showHelp
      case "--version": if action != .showHelp { action = .showVersion }
      case "--check-config": if action == .run { action = .checkConfiguration }
      case "--config":
        guard let path = rest.popFirst(), !path.isEmpty, !path.hasPrefix("--") else { throw Self.noFile }
        file = path
      case _ where argument.hasPrefix("--config="):
        file = String(argument.dropFirst("--config=".count))
        if file == "" { throw Self.noFile }
      default: settings.append(argument)
      }
    }
    if file == nil, let path = environment["CATALOGD_CONFIG"], !path.isEmpty { file = path }
  }

  private static var noFile: ConfigurationFaults {
    ConfigurationFaults(faults: [ConfigurationFault(nil, source: .argument("--config"), "names no file")])
  }

  /// The text of `--help`.
  package static var help: String {
    var text = """
      catalogd answers scans from the local catalogue, keeps it current, and sends scans on.

      USAGE: catalogd [--config FILE] [SETTING …]
             catalogd --check-config [--config FILE] [SETTING …]
             catalogd --help | --version

      A setting is an argument, a variable of the environment, or a key of the file (JSON), in this
      order: --http-address 127.0.0.1:8765, CATALOGD_HTTP_ADDRESS=127.0.0.1:8765 and
      {"http": {"address": "127.0.0.1:8765"}} are the same. $CATALOGD_CONFIG names the file as well.

        --config FILE    the file
        --check-config   tells what the configuration says, or everything that is wrong with it;
                         that includes a sync.url while nobody is signed in

      SETTINGS

      """
    for setting in DaemonSetting.all {
      let standard = setting.standard.isEmpty ? "" : " [\(setting.standard)]"
      var choices = ""
      if case .choice(let names) = setting.kind { choices = ": " + names.joined(separator: ", ") }
      let argument = DaemonSetting.argument(setting.path).replacing("-name-", with: "-NAME-")
      text += "  \(argument)\n      \(setting.meaning)\(choices)\(standard)\n"
    }
    return text + """

      SIGHUP reads the configuration again, SIGTERM and SIGINT end the daemon in order.
      Exit codes: 0 done; 64 usage; 65 bad data; 66 a file cannot be read; 69 unavailable;
      73 cannot create; 74 I/O error; 75 another process has the stores, such as a daemon on the
      same root; 77 permission.

      """
  }
}
