// swift-tools-version: 6.2

import Foundation
import PackageDescription

/// Every module: Swift 6 rules, every use of unsafe memory marked, and no warning tolerated.
let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// The libraries: what a module imports is its own business unless the import says `public` or `package`.
let library: [SwiftSetting] = strict + [.enableUpcomingFeature("InternalImportsByDefault")]

/// The modules that own memory may tie a view to its owner; their clients need no feature flag.
let lifetimes: [SwiftSetting] = library + [.enableExperimentalFeature("Lifetimes")]

// The products of other packages. Those of the trait `Daemon` are resolved only with it.

let withDaemon = TargetDependencyCondition.when(traits: ["Daemon"])
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: withDaemon)
let configuration = Target.Dependency.product(
  name: "Configuration", package: "swift-configuration", condition: withDaemon)
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let heapModule = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types", condition: withDaemon)
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metricsTestKit = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio", condition: withDaemon)
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio", condition: withDaemon)
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio", condition: withDaemon)
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio", condition: withDaemon)
let serviceLifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: withDaemon)
let unixSignals = Target.Dependency.product(
  name: "UnixSignals", package: "swift-service-lifecycle", condition: withDaemon)

// One function for each kind of target.

/// A library. With `ownsMemory` it may return views that are tied to their owner.
func module(_ name: String, _ dependencies: [Target.Dependency] = [], ownsMemory: Bool = false) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: ownsMemory ? lifetimes : library)
}

/// A program.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// Tests, with the files in their folder `Resources` if they have one.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], hasResources: Bool = false, ownsMemory: Bool = false
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, resources: hasResources ? [.copy("Resources")] : [],
    swiftSettings: ownsMemory ? lifetimes : strict)
}

/// Helpers of tests.
func testSupport(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The modules of a group, each in a folder of `Sources/GROUP`. They import modules of their own group and of the groups before it.
func sources(_ group: String, _ targets: [Target]) -> (name: String, targets: [Target]) {
  for target in targets { target.path = "Sources/\(group)/\(target.name)" }
  return (group, targets)
}

/// Benchmarks, each in a folder of `Benchmarks/Sources`.
func benchmarks(_ targets: [Target]) -> (name: String, targets: [Target]) {
  for target in targets { target.path = "Benchmarks/Sources/\(target.name)" }
  return ("Benchmarks", targets)
}

/// Tests of a group's modules, each in a folder of `Tests/GROUP`.
func tests(of group: String, _ targets: [Target]) -> (name: String, targets: [Target]) {
  for target in targets { target.path = "Tests/\(group)/\(target.name)" }
  return (group, targets)
}

/// Sources/GROUP and Tests/GROUP, from the bottom up.
let groups: [(name: String, targets: [Target])] = [
  // Bytes and texts, and what is written with them: JSON, gzip, hashes, documents.
  sources(
    "Base",
    [
      .target(name: "CChecksum"),
      .target(name: "CLibcrypto"),
      .target(name: "CSealing"),
      .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
      .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
      module("Bytes", ["CChecksum"], ownsMemory: true),
      module("Platform"),
      module("Essentials"),
      module("TextFormat"),
      module("Cryptography", ["CLibcrypto", "Essentials", "TextFormat"]),
      module("Sealing", ["CSealing"]),
      module("JSONFormat", ["TextFormat"]),
      module("Gzip", ["CZlib"]),
      module("Zstd", ["CZstd"]),
      module("DocumentFormat", ["Bytes", "Essentials", "JSONFormat", "TextFormat"], ownsMemory: true),
    ]),
  // The store. Bytes, RecordFormat and Storage are not products. Some of their declarations are public all the same:
  // the compiler does not inline a package function into another module.
  sources(
    "Engine",
    [
      .target(name: "CStorage"),
      module("RecordFormat", ["Bytes", "CChecksum"], ownsMemory: true),
      module("Storage", ["Bytes", "CStorage", "Platform"], ownsMemory: true),
      module("LogStore", ["Bytes", "CSealing", "Platform", "RecordFormat", "Sealing", "Storage"], ownsMemory: true),
    ]),
  // Documents in a store, and what is kept as documents: pages of remote lists, uploads that wait.
  sources(
    "Documents",
    [
      module("Documents", ["Bytes", "DocumentFormat", "Essentials", "LogStore", "Platform"], ownsMemory: true),
      module("RemoteLists", ["DocumentFormat", "Documents", "Essentials", "LogStore", "TextFormat"]),
      module(
        "UploadQueue",
        [
          "Bytes", "Cryptography", "DocumentFormat", "Documents", "Essentials", "JSONFormat", "LogStore", "Platform",
          "Storage", "TextFormat", heapModule,
        ]),
    ]),
  // The catalogue.
  sources(
    "Catalogue",
    [
      .target(name: "CSearchTables", exclude: ["LICENSE-UNICODE.txt", "README.md"]),
      .systemLibrary(name: "CStemmer", providers: [.apt(["libstemmer-dev"])]),
      module("SearchText", ["Bytes", "CSearchTables", "CStemmer"], ownsMemory: true),
      module("Barcodes", ["Bytes", "TextFormat"]),
      module("CatalogRows", ["Barcodes", "JSONFormat"]),
      module(
        "Catalog",
        [
          "Barcodes", "Bytes", "CatalogRows", "DocumentFormat", "JSONFormat", "LogStore", "Platform", "SearchText",
          "TextFormat",
        ],
        ownsMemory: true),
    ]),
  // HTTP: a client, a server, and the client of the upload queue.
  sources(
    "Network",
    [
      .target(name: "CCurl"),
      module("CurlClient", ["CCurl", "Platform", "TextFormat"]),
      module(
        "HTTPServer",
        [
          "Essentials", "HTTPSupport", "JSONFormat", "Platform", "TextFormat", httpTypes, logging, nioCore, nioHTTP1,
          nioPosix, serviceLifecycle,
        ]),
      module("HTTPSupport", ["TextFormat"]),
      module(
        "UploadHTTP",
        ["Cryptography", "CurlClient", "Essentials", "Gzip", "HTTPSupport", "Platform", "TextFormat", "UploadQueue"]),
    ]),
  // The server's answers: how they are written, fetched and taken into the catalogue.
  sources(
    "Server",
    [
      module("ServerAnswers", ["Barcodes", "Bytes", "CatalogRows", "Gzip", "JSONFormat", "Platform", "TextFormat"]),
      module("CatalogSync", ["Catalog", "LogStore", "ServerAnswers"]),
      module("CatalogHTTP", ["CatalogSync", "CurlClient", "Essentials", "HTTPSupport", "Platform", "TextFormat"]),
    ]),
  // One's own data: files, folders and databases, and a server that answers from them.
  sources(
    "OwnData",
    [
      .target(name: "CPostgreSQL"),
      // Where the C library has no iconv of its own, it is linked.
      .target(
        name: "CTextEncoding",
        linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS]))]),
      module(
        "RowFiles",
        [
          "Barcodes", "Bytes", "CatalogRows", "DocumentFormat", "Essentials", "Gzip", "JSONFormat", "Platform",
          "ServerAnswers", "TextFormat",
        ]),
      module(
        "RowSources",
        [
          "CTextEncoding", "JSONFormat", "Platform", "Zstd",
          .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        ]),
      module("CatalogFiles", ["Barcodes", "Catalog", "CatalogRows", "LogStore", "RowFiles", "ServerAnswers"]),
      module(
        "CatalogSources",
        [
          "Barcodes", "Catalog", "CatalogFiles", "CatalogRows", "CatalogSync", "Essentials", "JSONFormat", "LogStore",
          "Platform", "RowFiles", "RowSources", "ServerAnswers", "TextFormat",
        ]),
      module(
        "CatalogOrigin",
        [
          "Bytes", "Catalog", "CatalogRows", "CatalogSources", "Documents", "Essentials", "HTTPServer", "HTTPSupport",
          "JSONFormat", "LogStore", "Platform", "RowSources", "ServerAnswers", "TextFormat", httpTypes, logging,
          serviceLifecycle,
        ]),
    ]),
  // Static files from which devices take their catalogue.
  sources(
    "Publication",
    [
      module(
        "ObjectStores", ["Cryptography", "CurlClient", "Essentials", "HTTPSupport", "Platform", "TextFormat"]),
      module(
        "PublicationFormat",
        [
          "Barcodes", "Bytes", "CatalogRows", "Cryptography", "DocumentFormat", "Essentials", "JSONFormat",
          "TextFormat", "Zstd",
        ],
        ownsMemory: true),
      module(
        "PublicationSync",
        [
          "Barcodes", "Bytes", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "Cryptography", "DocumentFormat",
          "Essentials", "JSONFormat", "LogStore", "Platform", "PublicationFormat", "Storage", "TextFormat", "Zstd",
        ], ownsMemory: true),
      module(
        "Publisher",
        [
          "Bytes", "Catalog", "CatalogFiles", "CatalogHTTP", "CatalogRows", "CatalogSync", "Cryptography",
          "DocumentFormat", "Documents", "Essentials", "Gzip", "HTTPServer", "JSONFormat", "LogStore", "ObjectStores",
          "Platform", "PublicationFormat", "PublicationSync", "Storage", "TextFormat", "Zstd", httpTypes, logging,
          serviceLifecycle,
        ]),
    ]),
  // The stores of a device, and one import for all that embeds.
  sources(
    "Workspace",
    [
      module(
        "Workspace",
        [
          "Barcodes", "Bytes", "Catalog", "CatalogSync", "DocumentFormat", "Documents", "LogStore", "Platform",
          "RemoteLists", "Sealing", "Storage", "TextFormat",
        ]),
      module(
        "Shelfmark",
        [
          "Barcodes", "Catalog", "CatalogFiles", "CatalogSync", "DocumentFormat", "Documents", "LogStore",
          "RemoteLists", "UploadQueue", "Workspace",
        ]),
    ]),
  // The stores in a browser.
  sources(
    "Studio",
    [
      .target(name: "CStudio"),
      .target(
        name: "Studio",
        dependencies: [
          "Bytes", "Catalog", "CatalogRows", "CStudio", "DocumentFormat", "Documents", "Essentials", "HTTPServer",
          "HTTPSupport", "JSONFormat", "LogStore", "Platform", "RemoteLists", "RowFiles", "ServerAnswers", "TextFormat",
          "UploadQueue", "Workspace", httpTypes, logging, serviceLifecycle,
        ], exclude: ["Web"], swiftSettings: library),
    ]),
  // The daemon next to a scanner.
  sources(
    "Daemon",
    [
      .target(
        name: "CDaemon",
        linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS]))]),
      .target(name: "COpenAPI", exclude: ["openapi.json"]),
      module(
        "ScanInputs", ["CDaemon", "JSONFormat", "Platform", "TextFormat", logging, nioCore, nioPosix, serviceLifecycle]),
      module("StoreMetrics", ["Documents", "TextFormat", "UploadQueue", coreMetrics, logging]),
      module(
        "ScanDaemon",
        [
          "Barcodes", "Bytes", "Catalog", "CatalogHTTP", "CatalogSources", "CatalogSync", "CDaemon", "Cryptography",
          "DocumentFormat", "Documents", "Essentials", "JSONFormat", "LogStore", "Platform", "PublicationFormat",
          "PublicationSync", "ScanInputs", "ServerAnswers", "Storage", "StoreMetrics", "TextFormat", "UploadHTTP",
          "UploadQueue", "Workspace", coreMetrics, logging, serviceLifecycle,
        ]),
      module(
        "DaemonHTTP",
        [
          "Catalog", "CatalogSync", "COpenAPI", "HTTPServer", "HTTPSupport", "JSONFormat", "LogStore", "ScanDaemon",
          "ScanInputs", "Storage", "Studio", "TextFormat", "UploadQueue", "Workspace", coreMetrics, httpTypes, logging,
          nioCore, nioHTTP1, nioPosix, serviceLifecycle,
        ]),
      module(
        "DaemonProcess",
        [
          "Catalog", "CatalogHTTP", "CatalogSources", "CDaemon", "Cryptography", "DaemonHTTP", "DocumentFormat",
          "Documents", "Essentials", "HTTPSupport", "JSONFormat", "LogStore", "Platform", "RowSources", "ScanDaemon",
          "ScanInputs", "StoreMetrics", "TextFormat", "UploadHTTP", "UploadQueue", "Workspace", configuration,
          coreMetrics, logging, serviceLifecycle, unixSignals,
        ]),
    ]),
  // Programs.
  sources(
    "Programs",
    [
      program(
        "catalogctl",
        [
          "Barcodes", "Bytes", "Catalog", "CatalogFiles", "CatalogHTTP", "CatalogOrigin", "CatalogRows",
          "CatalogSources", "CatalogSync", "Cryptography", "DocumentFormat", "Documents", "Essentials", "Gzip",
          "JSONFormat", "LogStore", "ObjectStores", "Platform", "PublicationFormat", "PublicationSync", "Publisher",
          "RemoteLists", "RowFiles", "RowSources", "ScanInputs", "ServerAnswers", "Storage", "StoreMetrics", "Studio",
          "TextFormat", "UploadHTTP", "UploadQueue", "Workspace", argumentParser, logging,
        ]),
      program("catalogd", ["DaemonProcess"]),
    ]),

  // A benchmark that needs what the project's own programs use. The others are a package of their own.
  benchmarks([
    program(
      "fleet",
      [
        "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "Cryptography", "Essentials", "LogStore",
        "ObjectStores", "Platform", "PublicationFormat", "PublicationSync", "Publisher", "RowFiles", "ServerAnswers",
      ])
  ]),

  // Tests: one target a module. Helpers, and programs that tests kill, are targets of their own.
  tests(
    of: "Support",
    [
      .target(name: "CProcessSupport"),
      testSupport("RandomTestSupport"),
      testSupport(
        "StoreTestSupport",
        [
          "Bytes", "CProcessSupport", "LogStore", "Platform", "RandomTestSupport", "RecordFormat", "Sealing", "Storage",
        ]),
      testSupport("ProcessTestSupport", ["CProcessSupport"]),
      testSupport("WaitingTestSupport", ["RandomTestSupport"]),
      testSupport(
        "CatalogTestSupport",
        [
          "Barcodes", "Catalog", "CatalogRows", "DocumentFormat", "LogStore", "RandomTestSupport", "RowFiles",
          "ServerAnswers", "StoreTestSupport",
        ]),
      testSupport("RowTestSupport", ["Barcodes", "CatalogRows", "RandomTestSupport"]),
      testSupport(
        "PublicationTestSupport",
        [
          "Catalog", "CatalogRows", "Cryptography", "HTTPServer", "ObjectStores", "PublicationFormat", "Publisher",
          "TextFormat", "WaitingTestSupport", "Workspace", httpTypes, logging,
        ]),
      testSupport("DatagramTestSupport"),
      testSupport("ListenerTestSupport", [nioCore, nioPosix]),
      program(
        "store-actor",
        [
          "Bytes", "CProcessSupport", "Documents", "LogStore", "Platform", "ProcessTestSupport", "RandomTestSupport",
          "Storage", "StoreTestSupport",
        ]),
      program(
        "queue-actor", ["Documents", "LogStore", "ProcessTestSupport", "RandomTestSupport", "UploadQueue"]),
    ]),
  tests(
    of: "Base",
    [
      tests("BytesTests", ["Bytes", "CChecksum", "RandomTestSupport", "StoreTestSupport"]),
      tests("PlatformTests", ["Platform"]),
      tests("TextFormatTests", ["RandomTestSupport", "TextFormat"]),
      tests("SealingTests", ["Sealing"]),
      tests("CryptographyTests", ["Cryptography", "RandomTestSupport"]),
      tests("JSONFormatTests", ["JSONFormat", "RandomTestSupport"]),
      tests("GzipTests", ["Gzip", "RandomTestSupport"]),
      tests("ZstdTests", ["RandomTestSupport", "Zstd"]),
      tests("DocumentFormatTests", ["Bytes", "DocumentFormat", "JSONFormat", "RandomTestSupport"]),
    ]),
  tests(
    of: "Engine",
    [
      tests("RecordFormatTests", ["Bytes", "RandomTestSupport", "RecordFormat", "StoreTestSupport"]),
      tests("StorageTests", ["Bytes", "Platform", "RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport"]),
      tests(
        "LogStoreTests",
        [
          "Bytes", "LogStore", "Platform", "RandomTestSupport", "RecordFormat", "Sealing", "Storage",
          "StoreTestSupport",
        ]),
    ]),
  tests(
    of: "Documents",
    [
      tests(
        "DocumentsTests",
        ["Bytes", "DocumentFormat", "Documents", "LogStore", "RandomTestSupport", "Storage", "StoreTestSupport"],
        ownsMemory: true),
      tests(
        "RemoteListsTests",
        ["DocumentFormat", "Documents", "LogStore", "RandomTestSupport", "RemoteLists", "Storage", "StoreTestSupport"]),
      tests(
        "UploadQueueTests",
        [
          "DocumentFormat", "Documents", "JSONFormat", "LogStore", "Platform", "ProcessTestSupport", "queue-actor",
          "RandomTestSupport", "Storage", "StoreTestSupport", "UploadQueue", "WaitingTestSupport",
        ]),
      tests(
        "ProcessTests",
        [
          "DocumentFormat", "Documents", "LogStore", "ProcessTestSupport", "RandomTestSupport", "store-actor",
          "StoreTestSupport",
        ]),
    ]),
  tests(
    of: "Catalogue",
    [
      tests("CatalogRowsTests", ["CatalogRows"]),
      tests("SearchTextTests", ["Bytes", "RandomTestSupport", "SearchText"]),
      tests("BarcodesTests", ["Barcodes", "RandomTestSupport"], hasResources: true),
      tests(
        "CatalogTests",
        [
          "Barcodes", "Bytes", "Catalog", "CatalogRows", "CatalogTestSupport", "DocumentFormat", "JSONFormat",
          "LogStore", "RandomTestSupport", "RecordFormat", "RowTestSupport", "Sealing", "Storage", "StoreTestSupport",
        ], hasResources: true, ownsMemory: true),
    ]),
  tests(
    of: "Network",
    [
      tests("CurlClientTests", ["CurlClient"]),
      tests(
        "HTTPServerTests",
        [
          "HTTPServer", "WaitingTestSupport", httpTypes, logging, nioCore, nioEmbedded, nioHTTP1, nioPosix,
          serviceLifecycle,
        ]),
      tests("HTTPSupportTests", ["HTTPSupport"]),
      tests(
        "UploadHTTPTests",
        [
          "Cryptography", "DocumentFormat", "Documents", "ListenerTestSupport", "LogStore", "StoreTestSupport",
          "UploadHTTP", "UploadQueue", nioCore,
        ]),
    ]),
  tests(
    of: "Server",
    [
      tests(
        "ServerAnswersTests", ["Barcodes", "CatalogRows", "RandomTestSupport", "RowTestSupport", "ServerAnswers"],
        hasResources: true),
      tests(
        "CatalogSyncTests",
        [
          "Barcodes", "Catalog", "CatalogRows", "CatalogSync", "CatalogTestSupport", "Cryptography", "LogStore",
          "RandomTestSupport", "RowFiles", "ServerAnswers", "StoreTestSupport",
        ]),
      tests(
        "CatalogHTTPTests", ["CatalogHTTP", "ListenerTestSupport", nioCore, nioPosix], hasResources: true),
    ]),
  tests(
    of: "OwnData",
    [
      tests("CatalogSourcesTests", ["CatalogSources", "RowFiles"]),
      tests(
        "RowFilesTests",
        [
          "CatalogRows", "DocumentFormat", "Gzip", "RandomTestSupport", "RowFiles", "RowTestSupport", "ServerAnswers",
        ]),
      tests("CatalogFilesTests", ["CatalogFiles", "CatalogRows", "CatalogSync"]),
      tests("RowSourcesTests", ["RowSources"]),
      tests(
        "CatalogOriginTests",
        [
          "CatalogHTTP", "CatalogOrigin", "CatalogRows", "CatalogSources", "CurlClient", "Documents", "HTTPServer",
          "HTTPSupport", "LogStore", "RandomTestSupport", "RowFiles", "RowTestSupport", "ServerAnswers", logging,
          serviceLifecycle,
        ]),
    ]),
  tests(
    of: "Publication",
    [
      tests("ObjectStoresTests", ["ListenerTestSupport", "ObjectStores", "Platform", "StoreTestSupport", nioCore]),
      tests(
        "PublicationFormatTests",
        ["Bytes", "CatalogRows", "PublicationFormat", "RandomTestSupport", "RowTestSupport"]),
      tests(
        "PublicationSyncTests",
        [
          "Barcodes", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "Cryptography", "JSONFormat", "LogStore",
          "ObjectStores", "Platform", "PublicationFormat", "PublicationSync", "Publisher", "RandomTestSupport",
          "StoreTestSupport", "TextFormat",
        ]),
      tests(
        "PublisherTests",
        [
          "Barcodes", "Bytes", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "CatalogTestSupport",
          "Cryptography", "DocumentFormat", "Essentials", "Gzip", "HTTPServer", "LogStore", "ObjectStores", "Platform",
          "PublicationFormat", "PublicationSync", "Publisher", "RandomTestSupport", "Storage", "StoreTestSupport",
          "Zstd", httpTypes, logging,
        ]),
    ]),
  tests(
    of: "Workspace",
    [
      tests(
        "WorkspaceTests",
        [
          "Barcodes", "Bytes", "Catalog", "CatalogRows", "CatalogSync", "DocumentFormat", "Documents", "LogStore",
          "RandomTestSupport", "RemoteLists", "Sealing", "Storage", "StoreTestSupport", "Workspace",
        ])
    ]),
  tests(
    of: "Studio",
    [
      tests(
        "StudioTests",
        [
          "Catalog", "CatalogRows", "DocumentFormat", "HTTPServer", "HTTPSupport", "Studio", "TextFormat",
          "UploadQueue", "Workspace", httpTypes,
        ])
    ]),
  tests(
    of: "Daemon",
    [
      tests("ScanInputsTests", ["RandomTestSupport", "ScanInputs", "WaitingTestSupport", logging, serviceLifecycle]),
      tests(
        "StoreMetricsTests",
        [
          "DocumentFormat", "Documents", "LogStore", "StoreMetrics", "StoreTestSupport", "UploadQueue", logging,
          metricsTestKit,
        ]),
      tests(
        "ScanDaemonTests",
        [
          "Bytes", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSources", "CatalogSync", "CDaemon",
          "CProcessSupport", "Cryptography", "DocumentFormat", "Documents", "JSONFormat", "LogStore",
          "PublicationFormat",
          "PublicationSync", "PublicationTestSupport", "RandomTestSupport", "RowFiles", "RowSources", "ScanDaemon",
          "ScanInputs", "Storage", "UploadQueue", "WaitingTestSupport", "Workspace", coreMetrics, logging,
          metricsTestKit, serviceLifecycle,
        ]),
      tests(
        "DaemonHTTPTests",
        [
          "Barcodes", "Catalog", "CatalogRows", "DaemonHTTP", "Gzip", "HTTPServer", "HTTPSupport", "LogStore",
          "PublicationFormat", "PublicationTestSupport", "RandomTestSupport", "RowTestSupport", "ScanDaemon",
          "ScanInputs", "ServerAnswers", "Storage", "StoreTestSupport", "UploadQueue", "WaitingTestSupport",
          "Workspace", coreMetrics, httpTypes, logging, metricsTestKit, nioCore, nioEmbedded, nioPosix,
          serviceLifecycle,
        ]),
      tests(
        "DaemonProcessTests",
        [
          "CatalogHTTP", "Cryptography", "DaemonHTTP", "DaemonProcess", "DatagramTestSupport", "LogStore", "Platform",
          "RandomTestSupport", "ScanDaemon", "ScanInputs", "UploadQueue", "Workspace", coreMetrics, logging,
        ]),
    ]),
  tests(
    of: "Programs",
    [
      tests(
        "CommandLineTests",
        [
          "Catalog", "catalogctl", "catalogd", "CatalogTestSupport", "CProcessSupport", "DocumentFormat", "LogStore",
          "RandomTestSupport", "RemoteLists", "Sealing", "StoreTestSupport", "WaitingTestSupport", "Workspace",
        ]),
      tests(
        "CatalogdTests",
        ["Catalog", "catalogd", "DatagramTestSupport", "Workspace"]),
    ]),
  // The examples of the README and of the documentation, compiled as an application would, and run.
  tests(
    of: "Project",
    [
      .testTarget(
        name: "DocumentationTests",
        dependencies: [
          "Barcodes", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "DaemonHTTP", "DocumentFormat",
          "Documents", "LogStore", "RemoteLists", "ScanDaemon", "ScanInputs", "ServerAnswers", "Shelfmark",
          "StoreMetrics", "UploadHTTP", "UploadQueue", "Workspace", logging, serviceLifecycle,
        ],
        swiftSettings: [.treatAllWarnings(as: .error)]),
      // The harnesses of the fuzzers, which the package in Fuzzing compiles too.
      .testTarget(
        name: "FuzzingTests",
        dependencies: [
          "Barcodes", "Bytes", "Catalog", "CatalogRows", "CatalogSources", "Cryptography", "DocumentFormat",
          "Documents", "Gzip", "JSONFormat", "LogStore", "PublicationFormat", "RandomTestSupport", "RecordFormat",
          "RowFiles", "RowSources", "ScanInputs", "Sealing", "ServerAnswers", "Storage", "StoreTestSupport",
          "Workspace", "Zstd",
        ],
        exclude: ["Main.swift"], swiftSettings: strict),
    ]),
]

let package = Package(
  name: "shelfmark",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "Shelfmark", targets: ["Shelfmark"]),
    .library(name: "LogStore", targets: ["LogStore"]),
    .library(name: "Catalog", targets: ["Catalog"]),
    .library(name: "Barcodes", targets: ["Barcodes"]),
    .library(name: "CatalogRows", targets: ["CatalogRows"]),
    .library(name: "ServerAnswers", targets: ["ServerAnswers"]),
    .library(name: "RowFiles", targets: ["RowFiles"]),
    .library(name: "CatalogFiles", targets: ["CatalogFiles"]),
    .library(name: "CatalogSync", targets: ["CatalogSync"]),
    .library(name: "CatalogHTTP", targets: ["CatalogHTTP"]),
    .library(name: "DocumentFormat", targets: ["DocumentFormat"]),
    .library(name: "Documents", targets: ["Documents"]),
    .library(name: "RemoteLists", targets: ["RemoteLists"]),
    .library(name: "UploadQueue", targets: ["UploadQueue"]),
    .library(name: "StoreMetrics", targets: ["StoreMetrics"]),
    .library(name: "UploadHTTP", targets: ["UploadHTTP"]),
    .library(name: "Workspace", targets: ["Workspace"]),
    .library(name: "ScanInputs", targets: ["ScanInputs"]),
    .library(name: "ScanDaemon", targets: ["ScanDaemon"]),
    .library(name: "DaemonHTTP", targets: ["DaemonHTTP"]),
    .executable(name: "catalogctl", targets: ["catalogctl"]),
    .executable(name: "catalogd", targets: ["catalogd"]),
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "Rows from a PostgreSQL database. libpq is loaded when one is asked."),
    .trait(
      name: "Daemon",
      description: "The daemon, the studio, the origin, the commands. Off, what only they need is not resolved."
    ),
    .default(enabledTraits: ["Daemon", "PostgreSQL"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.3.0"),
    .package(
      url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["CommandLineArguments"]),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: groups.flatMap(\.targets),
  swiftLanguageModes: [.v6]
)

// MARK: Layers

/// What SHELFMARK_LAYER may be: groups, without the modules that speak HTTP.
let layers: [(name: String, groups: [String], exceptions: Set<String>)] = [
  ("engine", ["Base", "Engine", "Documents"], []),
  (
    "catalogue", ["Base", "Engine", "Documents", "Catalogue", "Server", "OwnData", "Workspace"],
    ["CatalogHTTP", "CatalogHTTPTests", "CatalogOrigin", "CatalogOriginTests"]
  ),
]

/// Leaves of a package a layer, its tests, and what these need, packages included.
@MainActor func keep(_ name: String, of package: Package) {
  guard let layer = layers.first(where: { $0.name == name }) else {
    let names = layers.map(\.name).joined(separator: ", ")
    FileHandle.standardError.write(Data("SHELFMARK_LAYER is '\(name)'; it may be \(names) or all\n".utf8))
    exit(64)
  }
  var needed = groups.filter { layer.groups.contains($0.name) }.flatMap(\.targets).map(\.name)
    .filter { !layer.exceptions.contains($0) }
  var targets: Set<String> = []
  var packages: Set<String> = []
  while let name = needed.popLast() {
    guard targets.insert(name).inserted else { continue }
    for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): needed.append(name)
      case .productItem(_, let package, _, _): if let package { packages.insert(package) }
      @unknown default: break
      }
    }
  }
  package.targets.removeAll { !targets.contains($0.name) }
  package.products.removeAll { !targets.contains($0.name) }
  package.dependencies.removeAll { dependency in
    guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
    return !packages.contains { location.hasSuffix("/" + $0) }
  }
}

// SHELFMARK_LAYER=engine or =catalogue builds and tests that much; CONTRIBUTING.md says how.
if let layer = Context.environment["SHELFMARK_LAYER"], !layer.isEmpty, layer != "all" { keep(layer, of: package) }

// SHELFMARK_OPTIMIZED=1, which scripts/programs sets for debug builds: what the tests spend most of their time in is
// optimised, and keeps its assertions. A program that depends on the package never has these flags, as SwiftPM would
// refuse them there.
if Context.environment["SHELFMARK_OPTIMIZED"] == "1" {
  let support = ["RandomTestSupport", "StoreTestSupport"]
  // These take the optimiser two minutes, and the tests little time.
  let slow = ["Barcodes", "DocumentFormat"]
  let names = groups.filter { ["Base", "Engine", "Catalogue"].contains($0.name) }.flatMap(\.targets).map(\.name)
    .filter { !slow.contains($0) }
  for target in package.targets where !target.isTest && (names + support).contains(target.name) {
    if target.type == .system { continue }
    let debug = BuildSettingCondition.when(configuration: .debug)
    if target.name.hasPrefix("C"), target.swiftSettings == nil {
      target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"], debug)]
    } else {
      target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O", "-assert-config", "Debug"], debug)]
    }
  }
}
