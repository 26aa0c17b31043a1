// swift-tools-version: 6.2
import PackageDescription

/// How debug builds compile the core where SwiftPM fetched this package: each module at once, as in release builds. Files
/// compiled in groups cost a third more, because every group reads all files, and pay only where files are edited.
let core: [SwiftSetting] =
    Context.packageDirectory.split(separator: "/").contains("checkouts")
    ? [
        .unsafeFlags(
            ["-whole-module-optimization", "-num-threads", "2", "-disable-batch-mode"], .when(configuration: .debug))
    ] : []

let package = Package(
    name: "Strata",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Strata", targets: ["Strata"]),
        .library(name: "StrataQuery", targets: ["StrataQuery"]),
        .library(name: "StrataStore", targets: ["StrataStore"]),
        .library(name: "StrataModelFiles", targets: ["StrataModelFiles", "StrataModelExport"]),
        .library(name: "StrataCoreDataModel", targets: ["StrataCoreDataModel"]),
        .library(name: "StrataCoreData", targets: ["StrataCoreData"]),
        .library(name: "StrataRemote", targets: ["StrataRemote"]),
        .library(name: "StrataStackMob", targets: ["StrataStackMob"]),
        .library(name: "StrataAzure", targets: ["StrataAzure"]),
        .library(name: "StrataMaxLeap", targets: ["StrataMaxLeap"]),
        .library(name: "StrataAsyncHTTP", targets: ["StrataAsyncHTTP"]),
        .library(name: "StrataPostgres", targets: ["StrataPostgres"]),
        .library(name: "StrataTesting", targets: ["StrataTesting"]),
        .library(name: "StrataRemoteTesting", targets: ["StrataRemoteTesting"]),
        .executable(name: "strata", targets: ["StrataTool"]),
        .library(name: "StrataServer", targets: ["StrataServer"]),
        .executable(name: "strata-server", targets: ["StrataServerTool"]),
        .executable(name: "strata-generate", targets: ["strata-generate"]),
        .executable(name: "strata-generate-coredata", targets: ["strata-generate-coredata"]),
        .plugin(name: "StrataPlugin", targets: ["StrataPlugin"]),
        .plugin(name: "StrataCoreDataPlugin", targets: ["StrataCoreDataPlugin"]),
        .plugin(name: "StrataGenerateCommand", targets: ["StrataGenerateCommand"]),
    ],
    // An app that needs only the core asks for no traits and fetches nothing of these.
    traits: [
        .default(enabledTraits: ["Remote", "CommandLine"]),
        .trait(name: "Remote", description: "Stores that mirror a back end, and their dialects."),
        .trait(
            name: "AsyncHTTP", description: "Requests by async-http-client in place of URLSession.",
            enabledTraits: ["Remote"]),
        .trait(
            name: "Server", description: "The server for the dialects, and the tool that starts it.",
            enabledTraits: ["Remote", "CommandLine"]),
        .trait(name: "Postgres", description: "Stores in PostgreSQL, through libpq."),
        .trait(name: "CommandLine", description: "The tool `strata`, and the example Gazetteer."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        // What Hummingbird stands on, named because the server's handlers stand on it directly, too.
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.25.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.25.0"),
        // Hummingbird brings these three as well.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
    ],
    targets: [
        .systemLibrary(
            name: "StrataCSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]
        ),
        .target(name: "StrataModel", swiftSettings: core),
        .target(name: "StrataQuery", dependencies: ["StrataModel"], swiftSettings: core),
        .target(name: "StrataStore", dependencies: ["StrataQuery"], swiftSettings: core),
        // What all stores in SQL databases have in common, without an engine.
        .target(name: "StrataSQL", dependencies: ["StrataStore"], swiftSettings: core),
        .target(name: "StrataSQLite", dependencies: ["StrataSQL", "StrataCSQLite"], swiftSettings: core),
        .target(name: "Strata", dependencies: ["StrataSQLite"], swiftSettings: core),
        .systemLibrary(
            name: "StrataCPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]
        ),
        // Without the trait, it has only the dialect, and links nothing.
        .target(
            name: "StrataPostgres",
            dependencies: [
                "Strata", "StrataSQL", .target(name: "StrataCPostgres", condition: .when(traits: ["Postgres"])),
            ],
            swiftSettings: core),
        // Only its signatures need swift-crypto; they are compiled with the trait `Remote`.
        .target(
            name: "StrataWire",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Remote"]))
            ]
        ),
        .target(
            name: "StrataRemote",
            dependencies: [
                "StrataSQLite",
                "StrataWire",
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Remote"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Remote"])),
            ]
        ),
        .target(
            name: "StrataStackMob",
            dependencies: ["StrataRemote"]
        ),
        .target(name: "StrataAzure", dependencies: ["StrataRemote"]),
        .target(
            name: "StrataMaxLeap",
            dependencies: ["StrataRemote"]
        ),
        .target(
            name: "StrataAsyncHTTP",
            dependencies: [
                "StrataRemote",
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOFoundationCompat", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(
                    name: "NIOHTTPCompression", package: "swift-nio-extras", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
            ]
        ),
        .target(name: "StrataTesting", dependencies: ["Strata"]),
        .target(name: "StrataRemoteTesting", dependencies: ["StrataTesting", "StrataRemote"]),
        .target(
            name: "StrataServer",
            dependencies: [
                "Strata",
                "StrataModelFiles",
                "StrataRemote",
                "StrataWire",
                .target(name: "StrataPostgres", condition: .when(traits: ["Postgres"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Server"])),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(name: "Yams", package: "Yams"),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras", condition: .when(traits: ["Server"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Server"])),
            ]
        ),
        // Its product is `strata-server`.
        .executableTarget(
            name: "StrataServerTool",
            dependencies: [
                "StrataServer",
                "StrataModelFiles",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLine"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
            ]
        ),
        .target(
            name: "StrataModelFiles",
            dependencies: ["StrataModel", "StrataQuery", .product(name: "Yams", package: "Yams")]),
        // Apart from the readers and the generator, which every app with the build plug-in compiles.
        .target(name: "StrataModelExport", dependencies: ["StrataModel", "StrataModelFiles"]),
        // Apple's model files and compiled models.
        .target(name: "StrataCoreDataModel", dependencies: ["StrataModel", "StrataQuery"]),
        // Stores that Apple's Core Data and SwiftData wrote.
        .target(name: "StrataCoreData", dependencies: ["StrataCoreDataModel", "StrataSQLite", "StrataCSQLite"]),
        // One module of all that it needs, through links in its folder. SwiftPM builds the tools of plug-ins with the app's
        // configuration, in a release build even twice, so as separate optimized modules they would take longer than the
        // rest of Strata. The modules that its files import are part of it here; the aliases lead to modules without effect.
        .executableTarget(
            name: "strata-generate",
            dependencies: [.product(name: "Yams", package: "Yams")],
            swiftSettings: [
                .unsafeFlags([
                    "-Onone", "-gnone", "-suppress-warnings",
                    "-module-alias", "StrataModel=_StringProcessing", "-module-alias", "StrataQuery=Observation",
                    "-module-alias", "StrataModelFiles=Synchronization",
                ])
            ]),
        .plugin(name: "StrataPlugin", capability: .buildTool(), dependencies: ["strata-generate"]),
        // The same tool for Core Data models, too. It is apart, so that apps without them do not pay for their readers.
        .executableTarget(
            name: "strata-generate-coredata",
            dependencies: [.product(name: "Yams", package: "Yams")],
            swiftSettings: [
                .unsafeFlags([
                    "-Onone", "-gnone", "-suppress-warnings",
                    "-module-alias", "StrataModel=_StringProcessing", "-module-alias", "StrataQuery=Observation",
                    "-module-alias", "StrataModelFiles=Synchronization",
                    "-module-alias", "StrataCoreDataModel=Distributed",
                ])
            ]),
        .plugin(
            name: "StrataCoreDataPlugin", capability: .buildTool(), dependencies: ["strata-generate-coredata"]),
        .plugin(
            name: "StrataGenerateCommand",
            capability: .command(
                intent: .custom(
                    verb: "strata-generate",
                    description: "Writes the Swift classes of a target's model files into the target's folder."
                ),
                permissions: [
                    .writeToPackageDirectory(reason: "It writes the generated classes into the target's folder.")
                ]
            ),
            dependencies: ["strata-generate-coredata"]
        ),
        // The dialect of Examples/KintoStore, for `strata explain`. The tool cannot depend on that package, which depends on this one.
        .target(name: "StrataKinto", dependencies: ["StrataRemote"], path: "Examples/KintoStore/Sources/KintoStore"),
        // Its product is `strata`. A target of that name would be the same as `Strata` on a disk that does not tell cases apart.
        .executableTarget(
            name: "StrataTool",
            dependencies: [
                "StrataAzure",
                "StrataCoreData",
                "StrataCoreDataModel",
                "StrataKinto",
                "StrataMaxLeap",
                "StrataModelExport",
                "StrataModelFiles",
                "StrataStackMob",
                "StrataWire",
                .target(name: "StrataPostgres", condition: .when(traits: ["Postgres"])),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLine"])),
            ]
        ),
        // Answers cases of the wire protocols, for the tests and for those who write cases.
        .executableTarget(
            name: "strata-wire",
            dependencies: [
                "StrataAzure",
                "StrataMaxLeap",
                "StrataStackMob",
                "StrataWire",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLine"])),
            ],
            path: "Tests/WireDriver"
        ),
        .executableTarget(
            name: "Gazetteer",
            dependencies: [
                "Strata",
                .target(name: "StrataPostgres", condition: .when(traits: ["Postgres"])),
                .target(name: "StrataAzure", condition: .when(traits: ["Server"])),
                .target(name: "StrataMaxLeap", condition: .when(traits: ["Server"])),
                .target(name: "StrataStackMob", condition: .when(traits: ["Server"])),
                .target(name: "StrataServer", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLine"])),
            ],
            resources: [.copy("Resources/GeoNames")],
            plugins: ["StrataPlugin"]
        ),
        .target(name: "CrashModels", dependencies: ["Strata", "SeededRandom"], path: "Tests/CrashModels"),
        .executableTarget(
            name: "CrashProbe", dependencies: ["Strata", "CrashModels", "SeededRandom"], path: "Tests/CrashProbe"),
        .executableTarget(
            name: "SyncKillProbe", dependencies: ["Strata", "StrataRemote", "SeededRandom"],
            path: "Tests/SyncKillProbe"),
        .testTarget(name: "GazetteerTests", dependencies: ["Gazetteer", "PostgresFixture", "ChildProcesses"]),
        .target(name: "ChildProcesses", path: "Tests/ChildProcesses"),
        .target(name: "CCounters", path: "Tests/CCounters"),
        .target(name: "SeededRandom", path: "Tests/SeededRandom"),
        .target(name: "SmallThread", path: "Tests/SmallThread"),
        .executableTarget(
            name: "AllocationProbe", dependencies: ["Strata", "CCounters"], path: "Tests/AllocationProbe"),
        .executableTarget(
            name: "GateProbe", dependencies: ["Strata", "CCounters"], path: "Tests/GateProbe",
            plugins: ["StrataPlugin"]),
        // It runs `strata-generate`, too, which is built for the plug-in and cannot be linked here once more.
        .testTarget(
            name: "ProcessTests",
            dependencies: [
                "Strata", "StrataTool", "strata-wire", "CrashModels", "CrashProbe", "SyncKillProbe", "AllocationProbe",
                "GateProbe",
                "SeededRandom", "PostgresFixture", "StrataModelExport", "StrataModelFiles", "ChildProcesses",
            ],
            exclude: ["Gates/thresholds.json"]),
        // The code of the documentation. README.md and the pages about the core need no more than the core and StrataTesting.
        .target(name: "GuidePages", path: "Tests/GuidePages"),
        .testTarget(
            name: "GuideTests",
            dependencies: [
                "Strata", "StrataCSQLite", "StrataCoreData", "StrataModelExport", "StrataModelFiles", "StrataTesting",
                "GuidePages",
            ],
            plugins: ["StrataPlugin"]),
        .testTarget(
            name: "RemoteGuideTests",
            dependencies: [
                "Strata", "StrataStackMob", "StrataMaxLeap", "StrataAzure", "StrataAsyncHTTP", "StrataRemoteTesting",
                "PlainJSONStore", "GuidePages", "StrataModelFiles", "StrataServer",
            ],
            plugins: ["StrataPlugin"]),
        .testTarget(
            name: "StrataTests",
            dependencies: ["Strata", "StrataTesting", "StrataCSQLite", "GraphWorld", "SeededRandom"]),
        .testTarget(name: "TypedPredicateTests", dependencies: ["Strata"], plugins: ["StrataPlugin"]),
        .testTarget(name: "EverydayTests", dependencies: ["Strata"], plugins: ["StrataPlugin"]),
        .testTarget(
            name: "AttributeTypeTests", dependencies: ["Strata", "StrataCSQLite"], plugins: ["StrataPlugin"]),
        .target(name: "SnippetCompiler", dependencies: ["ChildProcesses"], path: "Tests/SnippetCompiler"),
        .testTarget(
            name: "NegativeCompileTests",
            dependencies: ["Strata", "StrataModelFiles", "SnippetCompiler", "ChildProcesses"]),
        // The examples in doc comments, compiled with all modules that have some.
        .testTarget(
            name: "CommentExampleTests",
            dependencies: [
                "SnippetCompiler", "Strata", "StrataAsyncHTTP", "StrataAzure", "StrataCoreData", "StrataMaxLeap",
                "StrataModelExport", "StrataModelFiles", "StrataPostgres", "StrataServer", "StrataStackMob",
                "StrataRemoteTesting", "StrataTesting",
            ],
            exclude: ["Names"]),
        .testTarget(
            name: "MigrationTests",
            dependencies: ["Strata", "StrataSQLite", "StrataCSQLite", "MigrationWorld", "SeededRandom"],
            resources: [.copy("Fixtures")]),
        .testTarget(
            name: "StrataSQLTests", dependencies: ["StrataSQL", "StrataSQLite", "StrataPostgres"],
            resources: [.copy("Fixtures")]),
        .testTarget(
            name: "StrataSQLiteTests",
            dependencies: ["StrataSQLite", "StrataCSQLite", "PredicateWorld", "SeededRandom"]),
        .testTarget(
            name: "StrataQueryTests",
            dependencies: ["StrataQuery", "StrataTool", "StrataWire", "SeededRandom", "SmallThread"],
            resources: [.copy("Vectors")]),
        .testTarget(name: "StrataModelTests", dependencies: ["StrataModel", "SeededRandom"]),
        .testTarget(
            name: "StrataModelFilesTests",
            dependencies: ["StrataModelExport", "StrataModelFiles", "SeededRandom", "SmallThread"]),
        .testTarget(
            name: "StrataCoreDataModelTests",
            dependencies: ["Strata", "StrataCoreDataModel", "StrataModelFiles", "SeededRandom"],
            resources: [.copy("Samples")]),
        .testTarget(
            name: "StrataCoreDataTests",
            dependencies: ["Strata", "StrataCoreData", "StrataCSQLite", "SeededRandom"],
            resources: [.copy("Samples")]),
        .testTarget(name: "StrataWireTests", dependencies: ["StrataWire", "SeededRandom", "SmallThread"]),
        // As somebody else would write it: without what is open to this package alone.
        .target(
            name: "PlainJSONStore", dependencies: ["StrataRemote", "StrataRemoteTesting"], path: "Tests/PlainJSONStore",
            packageAccess: false),
        .testTarget(name: "StrataTestingTests", dependencies: ["StrataTesting", "StrataRemoteTesting"]),
        .target(name: "WireComparison", dependencies: ["StrataWire"], path: "Tests/WireComparison"),
        .target(
            name: "SyncSimulation", dependencies: ["Strata", "StrataRemote", "SeededRandom", "PlainJSONStore"],
            path: "Tests/SyncSimulation"),
        .executableTarget(
            name: "OutboxProbe", dependencies: ["Strata", "StrataRemote"], path: "Tests/OutboxProbe"),
        .executableTarget(
            name: "LoopbackProbe", dependencies: ["Strata", "StrataStackMob", "StrataAsyncHTTP"],
            path: "Tests/LoopbackProbe"),
        // What strata-server is measured against: as little as answers the same requests.
        .executableTarget(
            name: "PlainServer",
            dependencies: [
                "StrataCSQLite",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
            ],
            path: "Benchmarks/Server/PlainServer"),
        // Strata on PostgreSQL, and what it is measured against.
        .executableTarget(
            name: "PostgresBench",
            dependencies: [
                "Strata", "StrataPostgres", .target(name: "StrataCPostgres", condition: .when(traits: ["Postgres"])),
            ],
            path: "Benchmarks/Postgres/PostgresBench", plugins: ["StrataPlugin"]),
        .executableTarget(name: "SimulationProbe", dependencies: ["SyncSimulation"], path: "Tests/SimulationProbe"),
        .testTarget(
            name: "StrataRemoteTests",
            dependencies: [
                "Strata", "StrataRemote", "StrataRemoteTesting", "SyncSimulation", "PlainJSONStore", "SeededRandom",
            ]),
        .testTarget(
            name: "StrataStackMobTests",
            dependencies: [
                "Strata", "StrataStackMob", "StrataAsyncHTTP", "StrataRemoteTesting", "WireComparison", "strata-wire",
                "SeededRandom",
            ],
            resources: [.copy("Vectors")]),
        .testTarget(
            name: "StrataAzureTests",
            dependencies: ["Strata", "StrataAzure", "StrataRemoteTesting", "WireComparison", "strata-wire"],
            resources: [.copy("Vectors")]),
        .testTarget(
            name: "StrataMaxLeapTests",
            dependencies: ["Strata", "StrataMaxLeap", "StrataRemoteTesting", "WireComparison", "strata-wire"],
            resources: [.copy("Vectors")]),
        .testTarget(
            name: "StrataServerTests",
            dependencies: [
                "StrataServer", "StrataServerTool", "StrataStackMob", "StrataMaxLeap", "StrataAzure", "StrataAsyncHTTP",
                "Strata", "StrataRemoteTesting",
                "PlainJSONStore", "PostgresFixture", "SeededRandom", "ChildProcesses",
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTP"])),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["AsyncHTTP"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Server"])),
            ]
        ),
        .target(
            name: "PredicateWorld", dependencies: ["StrataStore", "SeededRandom"], path: "Tests/PredicateWorld"),
        .target(
            name: "MigrationWorld", dependencies: ["Strata", "SeededRandom"], path: "Tests/MigrationWorld"),
        .target(
            name: "GraphWorld", dependencies: ["Strata", "StrataTesting", "SeededRandom"], path: "Tests/GraphWorld"),
        .target(
            name: "PostgresFixture", dependencies: ["StrataPostgres", "StrataTesting", "ChildProcesses"],
            path: "Tests/PostgresFixture"),
        .executableTarget(
            name: "PostgresKillProbe",
            dependencies: ["Strata", "StrataPostgres", "CrashModels", "MigrationWorld", "SeededRandom"],
            path: "Tests/PostgresKillProbe"),
        .testTarget(
            name: "StrataPostgresTests",
            dependencies: [
                "StrataPostgres", "StrataTesting", "PostgresFixture", "PredicateWorld", "GraphWorld", "MigrationWorld",
                "CrashModels", "GuidePages", "SeededRandom", "ChildProcesses", "PostgresKillProbe", "StrataRemote",
                "StrataRemoteTesting",
            ]),
        .testTarget(name: "ConsumerTests", dependencies: ["ChildProcesses"]),
    ],
    swiftLanguageModes: [.v6]
)
