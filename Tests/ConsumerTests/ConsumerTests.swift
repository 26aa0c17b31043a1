import Foundation
import Testing

/// The package in `Tests/Consumer`, which imports only Strata and has its classes made by the build plug-ins, is built
/// as a user would.
///
/// Everything is one test, because building takes a minute: what is fetched, that it runs, and what a mistake in the
/// model looks like, for model files and for Core Data models.
@Suite struct ConsumerTests {
    /// Options that halve the time of the builds: modules are compiled whole, without debug information, and no index is written.
    private static let quickly =
        ["--disable-index-store"]
        + ["-whole-module-optimization", "-disable-batch-mode", "-num-threads", "2", "-gnone"]
        .flatMap { ["-Xswiftc", $0] }

    @Test func aPackageThatUsesTheBuildPlugin() throws {
        let package = try Self.copyOfConsumer()
        defer { try? FileManager.default.removeItem(at: package.deletingLastPathComponent()) }

        let resolution = try SwiftCommand.run(["package", "resolve"], in: package)
        #expect(resolution.status == 0, "\(resolution.output)")
        let dependencies = try SwiftCommand.run(["package", "show-dependencies", "--format", "flatlist"], in: package)
        #expect(dependencies.status == 0, "\(dependencies.output)")
        let names = Set(dependencies.output.split(separator: "\n").map { $0.lowercased() })
        // Strata's own identity is the name of its folder.
        let own = SwiftCommand.strata.lastPathComponent.lowercased()
        #expect(names.subtracting([own]) == ["yams"], "\(dependencies.output)")
        let checkouts = try FileManager.default.contentsOfDirectory(
            atPath: package.appendingPathComponent(".build/checkouts").path)
        #expect(Set(checkouts.map { $0.lowercased() }) == ["yams"])

        let run = try SwiftCommand.run(["run", "--quiet"] + Self.quickly + ["Consumer"], in: package)
        #expect(run.status == 0, "\(run.output)")
        #expect(!run.output.contains("warning:"), "\(run.output)")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(
            lines.suffix(11).dropLast() == [
                "left out: 9.95, 0, nil, true, 2.5, true, true, true",
                "given: 12, 322, novel, true, 5.0, cloth, [\"space\"]",
                "new film: new, 2 h 10 min",
                "book: Il nome della rosa by Umberto Eco, 9.95, [\"monks\", \"labyrinth\"], opens with Prologo",
                "chapters: [\"Prologo\", \"Primo giorno\", \"Terzo giorno\"]",
                "publisher: Bompiani, Milano, true; binding: true",
                "by Eco: [\"RareBook Beato di Liébana\", \"Book Il nome della rosa\", \"Pamphlet Pamphlet\"]",
                "from Milan: [\"Beato di Liébana\"]",
                "insured: [\"Beato di Liébana\"]",
                "basket: [\"The Name of the Rose\", \"Il nome della rosa\"]",
            ], "\(run.output)")
        #expect(lines.last?.hasPrefix("model: Library, 9 entities, ") == true)

        let counting = try SwiftCommand.run(["run", "--quiet"] + Self.quickly + ["Counting"], in: package)
        #expect(counting.status == 0 && counting.output.hasSuffix("1 book in one statement\n"), "\(counting.output)")

        let model = package.appendingPathComponent("Sources/Consumer/Library.strata.yaml")
        let good = try String(contentsOf: model, encoding: .utf8)
        try Self.changeTheModel(model, good: good, in: package)
        let bad = good.replacingOccurrences(of: "shelf: {to: Shelf, ", with: "shelf: {to: Shelv, ")
            .replacingOccurrences(of: "heading: string", with: "heading: strng")
        try Data(bad.utf8).write(to: model)
        let failure = try SwiftCommand.run(["build"] + Self.quickly, in: package)
        #expect(failure.status != 0)
        for (text, message) in [
            ("shelf: {to", "Item.shelf: leads to Shelv, which the model does not have; did you mean 'Shelf'?"),
            ("heading: ", "Chapter.heading: 'strng' is not a type; did you mean 'string'?"),
        ] {
            let line =
                try #require(
                    bad.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains(text) }) + 1
            let found = failure.output.split(separator: "\n").contains { output in
                output.contains("/Library.strata.yaml:\(line):") && output.hasSuffix(": error: \(message)")
            }
            #expect(found, "\(failure.output)")
        }

        try Data(good.utf8).write(to: model)
        let coreData = CoreDataConsumer(package: package, options: Self.quickly)
        try coreData.buildsAndRuns()
        try coreData.followsChanges()
        try coreData.reportsDamage()
        try coreData.isGeneratedByTheCommand()

        // The command writes the same classes into the target's folder.
        let renamed = package.appendingPathComponent("Sources/Consumer/Generated/BooksModel.strata.swift")
        try FileManager.default.createDirectory(
            at: renamed.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("// Of a model that was.\n".utf8).write(to: renamed)
        let command = try SwiftCommand.run(
            ["package"] + Self.quickly
                + ["--allow-writing-to-package-directory", "strata-generate", "--target", "Consumer"], in: package)
        #expect(command.status == 0, "\(command.output)")
        let folder = package.appendingPathComponent("Sources/Consumer/Generated")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(
            files == [
                "LibraryModel.strata.swift", "LibraryModel2.strata.swift", "LibraryModel3.strata.swift",
                "LibraryModel4.strata.swift",
            ])
    }

    /// A model that grows and shrinks: each build has the classes of the model as it is then, and no others.
    private static func changeTheModel(_ model: URL, good: String, in package: URL) throws {
        let more = (0..<8).map { "  Extra\($0): {attributes: {note: string?}}\n" }.joined()
        let larger = good.replacingOccurrences(of: "heading: string\n", with: "heading: string\n      mood: string?\n")
        // Files change, but none comes or goes: SwiftPM then keeps its plan, and does not ask the plug-in again.
        let source = model.deletingLastPathComponent().appendingPathComponent("Film.swift")
        let film = try String(contentsOf: source, encoding: .utf8)
        try Data((larger + more).utf8).write(to: model)
        let use = "func mood(_ chapter: Chapter, _ extra: Extra7) -> [String?] { [chapter.mood, extra.note] }\n"
        try Data((film + use).utf8).write(to: source)
        let grown = try SwiftCommand.run(["run", "--quiet"] + Self.quickly + ["Consumer"], in: package)
        #expect(grown.status == 0 && grown.output.contains("Library, 17 entities"), "\(grown.output)")

        // Extra7 is the application's own now: generated code of the larger model would declare it again.
        let own = "struct Extra7 {}\nextension Chapter { var mood: Extra7 { Extra7() } }\n"
        try Data(good.utf8).write(to: model)
        try Data((film + own).utf8).write(to: source)
        let shrunk = try SwiftCommand.run(["run", "--quiet"] + Self.quickly + ["Consumer"], in: package)
        #expect(shrunk.status == 0 && shrunk.output.contains("Library, 9 entities"), "\(shrunk.output)")
        try Data(film.utf8).write(to: source)
    }

    /// A copy in a temporary folder that depends on this package by its full path.
    private static func copyOfConsumer() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "strata-\(UUID().uuidString)", isDirectory: true)
        let package = folder.appendingPathComponent("consumer", isDirectory: true)
        let source = SwiftCommand.strata.appendingPathComponent("Tests/Consumer", isDirectory: true)
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        // Not a build folder that somebody left there.
        for name in ["Package.swift", "Sources"] {
            try FileManager.default.copyItem(
                at: source.appendingPathComponent(name), to: package.appendingPathComponent(name))
        }
        let manifest = package.appendingPathComponent("Package.swift")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        let path = SwiftCommand.strata.path
        try Data(text.replacingOccurrences(of: "\"../..\"", with: "\"\(path)\"").utf8).write(to: manifest)
        return package
    }
}
