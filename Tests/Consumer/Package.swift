// swift-tools-version: 6.2
import PackageDescription

// A package as users write it: it imports only Strata, and the build plug-ins make its classes.
let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v15)],
    dependencies: [
        // No traits: the packages that only remote stores need are not fetched.
        .package(name: "Strata", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "Consumer",
            dependencies: [.product(name: "Strata", package: "Strata")],
            plugins: [.plugin(name: "StrataPlugin", package: "Strata")]
        ),
        .executableTarget(
            name: "CoreDataConsumer",
            dependencies: [.product(name: "Strata", package: "Strata")],
            plugins: [.plugin(name: "StrataCoreDataPlugin", package: "Strata")]
        ),
        .executableTarget(name: "Counting", dependencies: [.product(name: "StrataTesting", package: "Strata")]),
    ],
    swiftLanguageModes: [.v6]
)
