import Foundation
import Testing

/// SwiftPM wants the name of each target only once among all packages that are built together.
@Suite struct TargetNameTests {
    @Test("A package that uses Strata may give its targets any name that does not begin with Strata")
    func namesOfTestsAndExamplesAreFree() throws {
        // `swift test` has locked the build folder of this package: a command that uses the same one waits for it for ever.
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("strata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let manifest = try SwiftCommand.run(
            ["package", "--scratch-path", scratch.path, "dump-package"], in: SwiftCommand.strata)
        #expect(manifest.status == 0, "\(manifest.output)")
        let json = manifest.output.drop { $0 != "{" }
        let targets = try JSONDecoder().decode(Manifest.self, from: Data(json.utf8)).targets
        let names = targets.map(\.name).filter { !$0.lowercased().hasPrefix("strata") }
        try #require(names.contains("Gazetteer") && names.contains("CrashProbe"), "\(names)")

        let resolution = try Self.resolve(names)
        #expect(resolution.status == 0, "\(resolution.output)")
        // A name that is taken is reported here; otherwise the test would show nothing.
        let conflict = try Self.resolve(["StrataCSQLite"])
        #expect(conflict.output.contains("conflicting name: 'StrataCSQLite"), "\(conflict.output)")
    }

    /// Loads a package that depends on Strata and has targets of these names.
    private static func resolve(_ names: [String]) throws -> (status: Int32, output: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in names {
            let sources = folder.appendingPathComponent("Sources/\(name)", isDirectory: true)
            try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
            try Data("let answer = 42\n".utf8).write(to: sources.appendingPathComponent("Answer.swift"))
        }
        let product = #".product(name: "Strata", package: "Strata")"#
        let targets = names.map { #".target(name: "\#($0)", dependencies: [\#(product)])"# }
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "names", platforms: [.macOS(.v15)],
                dependencies: [.package(name: "Strata", path: "\(SwiftCommand.strata.path)", traits: [])],
                targets: [\(targets.joined(separator: ", "))])

            """
        try Data(manifest.utf8).write(to: folder.appendingPathComponent("Package.swift"))
        return try SwiftCommand.run(["package", "show-dependencies"], in: folder)
    }

    private struct Manifest: Decodable {
        struct Target: Decodable { let name: String }
        let targets: [Target]
    }
}
