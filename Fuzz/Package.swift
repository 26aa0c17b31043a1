// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because a fuzz target has no main function of its own and must not be built by users.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Strata", path: "..", traits: [])],
    targets: [
        .executableTarget(
            name: "FuzzPredicates",
            dependencies: [.product(name: "StrataQuery", package: "Strata")],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    ],
    swiftLanguageModes: [.v6]
)
