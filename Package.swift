// swift-tools-version: 6.2

import PackageDescription

/// Every module: Swift 6 rules, every use of unsafe memory marked, and no warning tolerated.
let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// The modules that own memory may tie a view to its owner; their clients need no feature flag.
let lifetimes: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]

let package = Package(
  name: "shelfmark",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "LogStore", targets: ["LogStore"]),
    .library(name: "Catalog", targets: ["Catalog"]),
    .library(name: "Barcodes", targets: ["Barcodes"]),
    .library(name: "CatalogRows", targets: ["CatalogRows"]),
    .library(name: "CatalogWire", targets: ["CatalogWire"]),
    .library(name: "CatalogSync", targets: ["CatalogSync"]),
    .library(name: "CatalogHTTP", targets: ["CatalogHTTP"]),
    .library(name: "DocumentFormat", targets: ["DocumentFormat"]),
    .library(name: "Documents", targets: ["Documents"]),
    .library(name: "PageCache", targets: ["PageCache"]),
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
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.3.0"),
    .package(
      url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: [.defaults, "CommandLineArguments"]),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // Bytes and files. RecordFormat and Storage are no products: what they declare as public is this package's, and public
    // because the compiler inlines no package function into another module.
    .target(
      name: "CShims",
      // Where the C library has no iconv of its own.
      linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS]))]),
    // The daemon's OpenAPI document, as a file that editors and linters read.
    .target(name: "COpenAPI", exclude: ["openapi.json"]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "RecordFormat", dependencies: ["CShims"], swiftSettings: lifetimes),
    .target(name: "Storage", dependencies: ["CShims"], swiftSettings: lifetimes),
    .target(name: "LogStore", dependencies: ["CShims", "RecordFormat", "Storage"], swiftSettings: lifetimes),

    // The catalogue.
    .target(name: "Barcodes", swiftSettings: strict),
    .target(name: "CatalogRows", swiftSettings: strict),
    .target(
      name: "Catalog", dependencies: ["Barcodes", "CatalogRows", "LogStore", "RecordFormat"],
      swiftSettings: lifetimes),

    // Documents: bytes, fields by path, conditions. It opens no file and knows no store.
    .target(name: "DocumentFormat", dependencies: ["JSONStream", "RecordFormat"], swiftSettings: lifetimes),
    // Documents in a store.
    .target(
      name: "Documents", dependencies: ["DocumentFormat", "LogStore", "RecordFormat"], swiftSettings: lifetimes),
    // Pages of remote lists, kept as documents.
    .target(
      name: "PageCache", dependencies: ["DocumentFormat", "Documents", "LogStore"], swiftSettings: strict),
    // Uploads that wait in a store of documents.
    .target(
      name: "UploadQueue",
      dependencies: [
        "DocumentFormat", "Documents", "JSONStream", "LogStore", "RecordFormat", "Storage",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: strict),
    // What documents and uploads do, for swift-metrics.
    .target(
      name: "StoreMetrics",
      dependencies: ["Documents", "UploadQueue", .product(name: "CoreMetrics", package: "swift-metrics")],
      swiftSettings: strict),
    .target(
      name: "UploadHTTP",
      dependencies: [
        "CatalogHTTP", "CatalogWire", "DocumentFormat", "UploadQueue",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: strict),

    // From the server's answer to rows.
    .target(name: "JSONStream", swiftSettings: strict),
    .target(
      name: "CatalogWire",
      dependencies: ["CatalogRows", "CZlib", "JSONStream"],
      swiftSettings: strict),
    .target(
      name: "CatalogSync", dependencies: ["Catalog", "CatalogRows", "CatalogWire", "LogStore"], swiftSettings: strict),
    .target(
      name: "CatalogHTTP",
      dependencies: [
        "CatalogSync",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .target(
      name: "CatalogOrigin",
      dependencies: [
        "CatalogRows", "CatalogWire",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),

    // What people run.
    .target(
      name: "Workspace",
      dependencies: [
        "Catalog", "CatalogSync", "DocumentFormat", "Documents", "LogStore", "PageCache", "RecordFormat", "Storage",
      ],
      swiftSettings: strict),
    // Moments as texts.
    .target(name: "CivilTime", swiftSettings: strict),
    // What programs are told, for both executables.
    .target(
      name: "JSONOutput",
      dependencies: ["Catalog", "CatalogRows", "CatalogWire", "CivilTime", "DocumentFormat", "UploadQueue"],
      swiftSettings: strict),
    .executableTarget(
      name: "catalogctl",
      dependencies: [
        "Barcodes", "Catalog", "CatalogHTTP", "CatalogOrigin", "CatalogSync", "CatalogWire",
        "DocumentFormat", "Documents", "JSONOutput", "JSONStream", "LogStore", "PageCache", "RecordFormat", "Storage",
        "UploadHTTP", "UploadQueue", "Workspace",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    // The daemon beside a scanner: inputs that know no catalogue, what it does with scans, its HTTP interface.
    .target(
      name: "ScanInputs",
      dependencies: [
        "CShims", "JSONStream",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .target(
      name: "ScanDaemon",
      dependencies: [
        "CShims", "Catalog", "CatalogHTTP", "CatalogSync", "CivilTime", "DocumentFormat", "Documents", "JSONOutput",
        "LogStore", "ScanInputs", "Storage", "StoreMetrics", "UploadHTTP", "UploadQueue", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .target(
      name: "DaemonHTTP",
      dependencies: [
        "COpenAPI", "Catalog", "CatalogSync", "CivilTime", "JSONOutput", "JSONStream", "LogStore", "ScanDaemon",
        "ScanInputs", "UploadQueue", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    // The process around it: configuration, log, metrics for Prometheus, messages to systemd.
    .target(
      name: "DaemonProcess",
      dependencies: [
        "CShims", "CatalogHTTP", "CivilTime", "DaemonHTTP", "JSONStream", "ScanDaemon", "ScanInputs", "UploadHTTP",
        "UploadQueue",
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "catalogd",
      dependencies: [
        "Catalog", "CatalogHTTP", "DaemonHTTP", "DaemonProcess", "LogStore", "ScanDaemon", "ScanInputs", "Storage",
        "UploadHTTP", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),

    // Tests: one target a module, helpers in targets of their own.
    .target(name: "RandomTestSupport", path: "Tests/RandomTestSupport", swiftSettings: strict),
    .target(
      name: "StoreTestSupport",
      dependencies: ["CProcessSupport", "LogStore", "RandomTestSupport", "RecordFormat", "Storage"],
      path: "Tests/StoreTestSupport", swiftSettings: strict),
    .testTarget(
      name: "RecordFormatTests", dependencies: ["CShims", "RandomTestSupport", "RecordFormat", "StoreTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "StorageTests", dependencies: ["RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LogStoreTests",
      dependencies: ["LogStore", "RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport"],
      swiftSettings: strict),
    .target(name: "CProcessSupport", path: "Tests/CProcessSupport"),
    .executableTarget(
      name: "store-actor",
      dependencies: [
        "CProcessSupport", "Documents", "LogStore", "RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport",
        "UploadQueue",
      ],
      path: "Tests/StoreActor", swiftSettings: strict),
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "CProcessSupport", "DocumentFormat", "Documents", "LogStore", "RandomTestSupport", "StoreTestSupport",
        "UploadQueue", "store-actor",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "BarcodesTests", dependencies: ["Barcodes", "RandomTestSupport"], resources: [.copy("Resources")],
      swiftSettings: strict),
    .testTarget(
      name: "CatalogTests",
      dependencies: [
        "Barcodes", "Catalog", "CatalogRows", "CatalogSync", "CatalogWire", "LogStore", "RandomTestSupport",
        "RecordFormat", "Storage", "StoreTestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      resources: [.copy("Resources")], swiftSettings: lifetimes),
    .testTarget(
      name: "DocumentFormatTests", dependencies: ["DocumentFormat", "RandomTestSupport", "RecordFormat"],
      swiftSettings: strict),
    .testTarget(
      name: "DocumentsTests",
      dependencies: [
        "DocumentFormat", "Documents", "LogStore", "RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport",
      ],
      swiftSettings: lifetimes),
    .testTarget(
      name: "PageCacheTests",
      dependencies: [
        "DocumentFormat", "Documents", "LogStore", "PageCache", "RandomTestSupport", "Storage", "StoreTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "UploadQueueTests",
      dependencies: [
        "DocumentFormat", "Documents", "JSONOutput", "JSONStream", "LogStore", "RandomTestSupport", "StoreTestSupport",
        "UploadQueue",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "StoreMetricsTests",
      dependencies: [
        "DocumentFormat", "Documents", "LogStore", "StoreMetrics", "StoreTestSupport", "UploadQueue",
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "UploadHTTPTests",
      dependencies: [
        "DocumentFormat", "Documents", "LogStore", "StoreTestSupport", "UploadHTTP", "UploadQueue",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: strict),
    .testTarget(name: "CivilTimeTests", dependencies: ["CivilTime", "RandomTestSupport"], swiftSettings: strict),
    .testTarget(name: "JSONStreamTests", dependencies: ["JSONStream", "RandomTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "CatalogWireTests", dependencies: ["CatalogRows", "CatalogWire", "RandomTestSupport"],
      resources: [.copy("Resources")], swiftSettings: strict),
    .testTarget(
      name: "CatalogHTTPTests",
      dependencies: [
        "CatalogHTTP",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CatalogOriginTests",
      dependencies: [
        "CatalogHTTP", "CatalogOrigin", "CatalogRows", "CatalogWire", "RandomTestSupport",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "WorkspaceTests",
      dependencies: [
        "Catalog", "CatalogRows", "CatalogSync", "DocumentFormat", "Documents", "LogStore", "PageCache",
        "RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport", "Workspace",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ScanInputsTests",
      dependencies: [
        "RandomTestSupport", "ScanInputs",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ScanDaemonTests",
      dependencies: [
        "CProcessSupport", "CShims", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "DocumentFormat",
        "Documents", "JSONOutput", "LogStore", "RandomTestSupport", "ScanDaemon", "ScanInputs", "Storage",
        "UploadQueue", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DaemonHTTPTests",
      dependencies: [
        "Catalog", "CatalogOrigin", "CatalogRows", "DaemonHTTP", "LogStore", "RandomTestSupport", "ScanDaemon",
        "ScanInputs", "StoreTestSupport", "UploadQueue", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .target(name: "DatagramTestSupport", path: "Tests/DatagramTestSupport", swiftSettings: strict),
    .testTarget(
      name: "DaemonProcessTests",
      dependencies: [
        "DaemonHTTP", "DaemonProcess", "DatagramTestSupport", "RandomTestSupport", "ScanDaemon", "ScanInputs",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CatalogdTests",
      dependencies: [
        "CatalogHTTP", "DaemonHTTP", "DaemonProcess", "DatagramTestSupport", "LogStore", "ScanDaemon", "Workspace",
        "catalogd",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CommandLineTests",
      dependencies: ["CProcessSupport", "catalogctl", "catalogd", "LogStore", "PageCache", "RandomTestSupport"],
      swiftSettings: strict),
    // The examples of the README and of the documentation, compiled as an application would, and run.
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Barcodes", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "CatalogWire", "DaemonHTTP",
        "DocumentFormat", "Documents", "LogStore", "PageCache", "ScanDaemon", "ScanInputs", "StoreMetrics",
        "UploadHTTP", "UploadQueue", "Workspace",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)
