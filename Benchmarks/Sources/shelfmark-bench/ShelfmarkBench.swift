import BenchmarkSupport
import CatalogueGenerator

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Measures the catalogue through its public interface.
@main
struct ShelfmarkBench {
  static func main() {
    let arguments = CommandLine.arguments
    do {
      if let job = try ChildJob(arguments) {
        try job.run()
        return
      }
      let options = try Options(Array(arguments.dropFirst()))
      if options.wantsHelp {
        print(Options.help)
        return
      }
      try run(options)
    } catch {
      complain("\(error)")
      exit(error is UsageError ? 64 : 1)
    }
  }

  private static func run(_ options: Options) throws {
    if options.command == .lines { return try LineBenchmark(options).run() }
    let folder = try WorkFolder("shelfmark-bench", keeping: options.keep)
    defer { folder.remove() }
    if options.command == .append {
      let path = folder.path + "/append"
      // The path is copied for the call.
      defer { unsafe unlink(path) }
      return try AppendBenchmark(path: path, byteCount: options.byteCount, seconds: options.seconds).run()
    }
    let sample = try options.isSynthetic ? nil : SampleFile.load(options.from)
    var report = Report(machine: Machine(), commandLine: options.commandLine)
    if options.command == .scans {
      try ScanBenchmark(options: options).run(&report)
      return print(report.text(options.format))
    }
    for count in options.productCounts {
      let generator = CatalogueGenerator(productCount: count, seed: options.seed, sample: sample)
      switch options.command {
      case .lookup: try LookupBenchmark(generator, folder, options).run(&report)
      case .increment: try IncrementBenchmark(generator, folder, options).run(&report)
      case .ingest: try IngestBenchmark(generator, folder, options).run(&report)
      case .quick: try QuickCheck(generator, folder, options).run(&report)
      case .generate: try GenerateCommand.run(generator, options)
      case .scans, .lines, .append: preconditionFailure("these have no catalogue of their own")
      }
    }
    if options.command != .generate { print(report.text(options.format)) }
  }
}
