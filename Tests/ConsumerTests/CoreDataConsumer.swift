import Foundation
import Testing

/// The target `CoreDataConsumer` of the package in `Tests/Consumer`: its classes are made from a Core Data model with two
/// versions by the second build plug-in.
struct CoreDataConsumer {
    let package: URL
    let options: [String]

    private var sources: URL { package.appendingPathComponent("Sources/CoreDataConsumer") }
    private var bundle: URL { sources.appendingPathComponent("Notebook.xcdatamodeld") }

    private func contents(_ version: String) -> URL {
        bundle.appendingPathComponent("\(version).xcdatamodel/contents")
    }

    private func build() throws -> (status: Int32, output: String) {
        try SwiftCommand.run(["build"] + options + ["--product", "CoreDataConsumer"], in: package)
    }

    /// Replaces the value of `.xccurrentversion`.
    private func choose(_ version: String, insteadOf old: String) throws {
        let file = bundle.appendingPathComponent(".xccurrentversion")
        let text = try String(contentsOf: file, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "\(old).xcdatamodel", with: "\(version).xcdatamodel").utf8).write(
            to: file)
    }

    /// The classes of the version that the bundle names: they compile without warnings of the compiler, work, and what has no
    /// counterpart is a warning with its line.
    func buildsAndRuns() throws {
        let first = try build()
        #expect(first.status == 0, "\(first.output)")
        let warnings = first.output.split(separator: "\n").filter { $0.contains("warning:") }
        let text = try String(contentsOf: contents("Notebook 2"), encoding: .utf8)
        for (element, message) in [
            ("name=\"path\"", "Note.path: Strata's name is notePath"),
            ("name=\"origin\"", "Tag.origin is of type ObjectID, which Strata does not have; it is left out"),
            (
                "name=\"Local\"",
                "the configuration Local: added Document, because a configuration has all of a hierarchy"
            ),
        ] {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let line = try #require(lines.firstIndex { $0.contains(element) }) + 1
            #expect(
                warnings.contains { $0.hasSuffix("Notebook 2.xcdatamodel/contents:\(line):1: warning: \(message)") },
                "\(first.output)")
        }
        #expect(warnings.count == 3, "\(first.output)")

        let run = try SwiftCommand.run(["run", "--quiet", "--skip-build", "CoreDataConsumer"], in: package)
        #expect(run.status == 0, "\(run.output)")
        #expect(
            run.output.split(separator: "\n").suffix(6) == [
                "note: Café, cafe, 4, /notes/1", "place: Bologna, 44.5; style: red",
                "attachments: [\"unnamed 3\", \"second 0\"]", "tags: [\"work\"]",
                "documents: [\"Café\", \"untitled\"]", "model: Notebook, 4 entities",
            ], "\(run.output)")
    }

    /// A changed version, another current version and a new version: the next build has their classes.
    func followsChanges() throws {
        let file = sources.appendingPathComponent("Attachment.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        func use(_ property: String) throws {
            let text = source + "extension Tag { var hint: String { \(property) ?? \"none\" } }\n"
            try Data(text.utf8).write(to: file)
        }
        let second = try String(contentsOf: contents("Notebook 2"), encoding: .utf8)
        let mood = "<attribute name=\"mood\" optional=\"YES\" attributeType=\"String\"/>"
        try Data(
            second.replacingOccurrences(of: "<attribute name=\"origin\"", with: mood + "<attribute name=\"origin\"")
                .utf8
        )
        .write(to: contents("Notebook 2"))
        try use("mood")
        let changed = try build()
        #expect(changed.status == 0, "\(changed.output)")

        // The tenth version has a color and no mood.
        try choose("Notebook 10", insteadOf: "Notebook 2")
        try use("color")
        let chosen = try build()
        #expect(chosen.status == 0 && chosen.output.contains("Notebook 10.xcdatamodel/contents:"), "\(chosen.output)")

        let tenth = try String(contentsOf: contents("Notebook 10"), encoding: .utf8)
        try FileManager.default.createDirectory(
            at: contents("Notebook 11").deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(tenth.replacingOccurrences(of: "\"color\"", with: "\"shade\"").utf8).write(to: contents("Notebook 11"))
        try choose("Notebook 11", insteadOf: "Notebook 10")
        try use("shade")
        let added = try build()
        #expect(added.status == 0, "\(added.output)")
        try Data(source.utf8).write(to: file)
    }

    /// Models that cannot be read are errors of the build, with the file and the line.
    func reportsDamage() throws {
        let file = contents("Notebook 11")
        let good = try String(contentsOf: file, encoding: .utf8)
        let end = try #require(good.range(of: "<entity name=\"Tag\""))
        try Data(good[..<end.lowerBound].utf8).write(to: file)
        let line = good[..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false).count
        let damaged = try build()
        #expect(damaged.status != 0)
        #expect(
            damaged.output.contains("Notebook 11.xcdatamodel/contents:\(line):1: error: this is not well-formed XML"),
            "\(damaged.output)")

        let elements = file.deletingLastPathComponent().appendingPathComponent("elements")
        try FileManager.default.removeItem(at: file)
        try Data("bplist00".utf8).write(to: elements)
        let old = try build()
        #expect(old.status != 0)
        #expect(
            old.output.contains(
                "Notebook 11.xcdatamodel/elements:1:1: error: this model is in Xcode 3's binary format"),
            "\(old.output)")
        try FileManager.default.removeItem(at: elements)
        try Data(good.utf8).write(to: file)
    }

    /// The command writes the same classes into the target's folder. A model next to a model file that was converted from it is
    /// left out.
    func isGeneratedByTheCommand() throws {
        let command = try generate()
        #expect(command.status == 0, "\(command.output)")
        let folder = sources.appendingPathComponent("Generated")
        let names = ["NotebookModel.strata.swift"] + (2...4).map { "NotebookModel\($0).strata.swift" }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)

        let file = sources.appendingPathComponent("Notebook.strata.yaml")
        try Data("entities: {Page: {attributes: {number: integer64}}}\n".utf8).write(to: file)
        let both = try generate()
        #expect(both.status == 0, "\(both.output)")
        #expect(
            both.output.contains(
                "Notebook.xcdatamodeld:1:1: warning: the model is left out, because there is Notebook.strata.yaml"),
            "\(both.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        let first = try String(contentsOf: folder.appendingPathComponent(names[0]), encoding: .utf8)
        #expect(first.contains("pageEntity()"), "\(first)")
    }

    private func generate() throws -> (status: Int32, output: String) {
        try SwiftCommand.run(
            ["package"] + options
                + ["--allow-writing-to-package-directory", "strata-generate", "--target", "CoreDataConsumer"],
            in: package)
    }
}
