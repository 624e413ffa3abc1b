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
    .library(name: "Shelfmark", targets: ["Shelfmark"]),
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
    // Bytes and files. Bytes, RecordFormat and Storage are not products. Some of their declarations are public all the same: the
    // compiler does not inline a package function into another module.
    .target(name: "CChecksum"),
    .target(name: "CStorage"),
    .target(
      name: "CDaemon",
      // Where the C library has no iconv of its own.
      linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS]))]),
    // The daemon's OpenAPI document, as a file that editors and linters read.
    .target(name: "COpenAPI", exclude: ["openapi.json"]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "Bytes", dependencies: ["CChecksum"], swiftSettings: lifetimes),
    // Texts: dates, escapes, JSON.
    .target(name: "TextFormat", swiftSettings: strict),
    .target(name: "JSONFormat", dependencies: ["TextFormat"], swiftSettings: strict),
    .target(name: "RecordFormat", dependencies: ["Bytes", "CChecksum"], swiftSettings: lifetimes),
    .target(name: "Storage", dependencies: ["Bytes", "CStorage"], swiftSettings: lifetimes),
    .target(name: "LogStore", dependencies: ["Bytes", "RecordFormat", "Storage"], swiftSettings: lifetimes),

    // The catalogue.
    .target(name: "Barcodes", dependencies: ["TextFormat"], swiftSettings: strict),
    .target(name: "CatalogRows", dependencies: ["JSONFormat"], swiftSettings: strict),
    .target(
      name: "Catalog", dependencies: ["Barcodes", "CatalogRows", "JSONFormat", "LogStore", "Bytes"],
      swiftSettings: lifetimes),

    // Documents: bytes, fields by path, conditions. It opens no file and knows no store.
    .target(
      name: "DocumentFormat", dependencies: ["JSONFormat", "Bytes", "TextFormat"], swiftSettings: lifetimes),
    // Documents in a store.
    .target(
      name: "Documents", dependencies: ["DocumentFormat", "LogStore", "Bytes"], swiftSettings: lifetimes),
    // Pages of remote lists, kept as documents.
    .target(
      name: "PageCache", dependencies: ["DocumentFormat", "Documents", "LogStore", "TextFormat"], swiftSettings: strict),
    // Uploads that wait in a store of documents.
    .target(
      name: "UploadQueue",
      dependencies: [
        "DocumentFormat", "Documents", "JSONFormat", "LogStore", "Bytes", "Storage", "TextFormat",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: strict),
    // What documents and uploads do, for swift-metrics.
    .target(
      name: "StoreMetrics",
      dependencies: [
        "Documents", "TextFormat", "UploadQueue", .product(name: "CoreMetrics", package: "swift-metrics"),
      ],
      swiftSettings: strict),
    .target(
      name: "UploadHTTP",
      dependencies: [
        "GzipStream", "HTTPSupport", "Storage", "TextFormat", "UploadQueue",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: strict),

    // From the server's answer to rows.
    .target(name: "GzipStream", dependencies: ["CZlib"], swiftSettings: strict),
    .target(
      name: "CatalogWire",
      dependencies: ["CatalogRows", "GzipStream", "JSONFormat", "TextFormat"],
      swiftSettings: strict),
    .target(
      name: "CatalogSync", dependencies: ["Catalog", "CatalogRows", "CatalogWire", "LogStore"], swiftSettings: strict),
    // What the clients of HTTP share, whatever they send.
    .target(
      name: "HTTPSupport",
      dependencies: [
        "TextFormat",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .target(
      name: "CatalogHTTP",
      dependencies: [
        "CatalogSync", "HTTPSupport", "TextFormat",
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
        "CatalogRows", "CatalogWire", "JSONFormat", "TextFormat",
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
        "Catalog", "CatalogSync", "DocumentFormat", "Documents", "LogStore", "PageCache", "Bytes", "Storage",
        "TextFormat",
      ],
      swiftSettings: strict),
    // All libraries for embedding, with one import.
    .target(
      name: "Shelfmark",
      dependencies: [
        "Barcodes", "Catalog", "CatalogSync", "DocumentFormat", "Documents", "LogStore", "PageCache", "UploadQueue",
        "Workspace",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "catalogctl",
      dependencies: [
        "Barcodes", "Catalog", "CatalogHTTP", "CatalogOrigin", "CatalogSync", "CatalogWire",
        "DocumentFormat", "Documents", "GzipStream", "JSONFormat", "LogStore", "PageCache", "Bytes", "Storage",
        "TextFormat", "UploadHTTP", "UploadQueue", "Workspace",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    // The daemon beside a scanner: inputs that know no catalogue, what it does with scans, its HTTP interface.
    .target(
      name: "ScanInputs",
      dependencies: [
        "CDaemon", "JSONFormat", "TextFormat",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .target(
      name: "ScanDaemon",
      dependencies: [
        "CDaemon", "Catalog", "CatalogHTTP", "CatalogSync", "DocumentFormat", "Documents", "JSONFormat", "LogStore",
        "ScanInputs", "Storage", "StoreMetrics", "TextFormat", "UploadHTTP", "UploadQueue", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .target(
      name: "DaemonHTTP",
      dependencies: [
        "COpenAPI", "Catalog", "CatalogSync", "JSONFormat", "LogStore", "ScanDaemon", "ScanInputs", "TextFormat",
        "UploadQueue", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
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
        "CDaemon", "CatalogHTTP", "DaemonHTTP", "JSONFormat", "ScanDaemon", "ScanInputs", "TextFormat", "UploadHTTP",
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
      dependencies: ["Bytes", "CProcessSupport", "LogStore", "RandomTestSupport", "RecordFormat", "Storage"],
      path: "Tests/StoreTestSupport", swiftSettings: strict),
    .testTarget(
      name: "BytesTests", dependencies: ["Bytes", "CChecksum", "RandomTestSupport", "StoreTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RecordFormatTests",
      dependencies: ["Bytes", "CChecksum", "RandomTestSupport", "RecordFormat", "StoreTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "StorageTests",
      dependencies: ["Bytes", "RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LogStoreTests",
      dependencies: ["LogStore", "Bytes", "RandomTestSupport", "RecordFormat", "Storage", "StoreTestSupport"],
      swiftSettings: strict),
    .target(name: "CProcessSupport", path: "Tests/CProcessSupport"),
    .executableTarget(
      name: "store-actor",
      dependencies: [
        "CProcessSupport", "Documents", "LogStore", "Bytes", "RandomTestSupport", "Storage", "StoreTestSupport",
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
        "Barcodes", "Catalog", "CatalogRows", "CatalogSync", "CatalogWire", "Bytes", "LogStore", "RandomTestSupport",
        "RecordFormat", "Storage", "StoreTestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      resources: [.copy("Resources")], swiftSettings: lifetimes),
    .testTarget(
      name: "DocumentFormatTests",
      dependencies: ["Bytes", "DocumentFormat", "JSONFormat", "RandomTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DocumentsTests",
      dependencies: [
        "DocumentFormat", "Documents", "LogStore", "Bytes", "RandomTestSupport", "Storage", "StoreTestSupport",
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
        "DocumentFormat", "Documents", "JSONFormat", "LogStore", "RandomTestSupport", "Storage", "StoreTestSupport",
        "UploadQueue", "WaitingTestSupport",
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
    .testTarget(name: "TextFormatTests", dependencies: ["TextFormat", "RandomTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "GzipStreamTests", dependencies: ["GzipStream", "RandomTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "HTTPSupportTests",
      dependencies: [
        "HTTPSupport",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .testTarget(name: "JSONFormatTests", dependencies: ["JSONFormat", "RandomTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "CatalogWireTests", dependencies: ["CatalogRows", "CatalogWire", "GzipStream", "RandomTestSupport"],
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
        "Bytes", "RandomTestSupport", "Storage", "StoreTestSupport", "Workspace",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ScanInputsTests",
      dependencies: [
        "RandomTestSupport", "ScanInputs", "WaitingTestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ScanDaemonTests",
      dependencies: [
        "CProcessSupport", "CDaemon", "Catalog", "CatalogHTTP", "CatalogRows", "CatalogSync", "DocumentFormat",
        "Documents", "JSONFormat", "LogStore", "RandomTestSupport", "ScanDaemon", "ScanInputs", "Storage",
        "UploadQueue", "WaitingTestSupport", "Workspace",
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
        "ScanInputs", "StoreTestSupport", "UploadQueue", "WaitingTestSupport", "Workspace",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    // Clocks that tests move, and waiting for what comes about.
    .target(
      name: "WaitingTestSupport", dependencies: ["RandomTestSupport"], path: "Tests/WaitingTestSupport",
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
        "CatalogHTTP", "DaemonHTTP", "DaemonProcess", "DatagramTestSupport", "LogStore", "ScanDaemon", "Storage",
        "Workspace",
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
        "DocumentFormat", "Documents", "LogStore", "PageCache", "ScanDaemon", "ScanInputs", "Shelfmark", "StoreMetrics",
        "UploadHTTP", "UploadQueue", "Workspace",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)
