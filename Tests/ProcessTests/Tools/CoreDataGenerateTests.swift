import Foundation
import Testing

/// The generator that reads Core Data models, as `StrataCoreDataPlugin` runs it, and the lock file next to such a model.
@Suite struct CoreDataGenerateTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "strata-coredata-\(UUID().uuidString)")
    private var bundle: String { folder.appending(path: "Users.xcdatamodeld").path }
    private var contents: URL { URL(fileURLWithPath: bundle + "/Users 2.xcdatamodel/contents") }
    private var output: String { folder.appending(path: "Generated").path }

    private init() throws {
        let version = contents.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try write("<attribute name=\"name\" attributeType=\"String\"/>")
    }

    /// Writes the only version: an entity with these attributes.
    private func write(_ attributes: String) throws {
        let xml = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="User" representedClassName="User">
                    \(attributes)
                </entity>
            </model>
            """
        try Data(xml.utf8).write(to: contents)
    }

    private func generate(_ model: String) throws -> StrataTool.Run {
        try StrataTool.run(["--model", model, "--output", output], of: "strata-generate-coredata")
    }

    @Test("A bundle, a version, a model file and compiled models become classes")
    func kinds() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let yaml = folder.appending(path: "Notes.strata.yaml")
        try Data("entities: {Note: {attributes: {text: string}}}".utf8).write(to: yaml)
        let samples = StrataTool.file(ofPackage: "Tests/StrataCoreDataModelTests/Samples")
        let compiled = folder.appending(path: "Test.momd")
        try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: samples.appending(path: "TestModel.mom"), to: compiled.appending(path: "TestModel.mom"))
        for (model, name, expected) in [
            (bundle, "UsersModel", "class User: ManagedObject"),
            (bundle + "/", "UsersModel", "class User: ManagedObject"),
            (contents.deletingLastPathComponent().path, "Users2Model", "class User: ManagedObject"),
            (yaml.path, "NotesModel", "class Note: ManagedObject"),
            (compiled.path, "TestModel", ": ManagedObject"),
            (samples.appending(path: "SampleModel2.mom").path, "SampleModel2Model", ": ManagedObject"),
        ] {
            try? FileManager.default.removeItem(atPath: output)
            let run = try generate(model)
            #expect(run.status == 0, "\(model): \(run.errors)")
            let names = [name] + (2...4).map { "\(name)\($0)" }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: output).sorted()
                    == names.map { $0 + ".strata.swift" })
            let text = try names.map { try String(contentsOfFile: "\(output)/\($0).strata.swift", encoding: .utf8) }
            #expect(text.joined().contains(expected), "\(model)")
        }
    }

    @Test("What has no counterpart is a warning with its line; what cannot be read is an error, and nothing is written")
    func diagnostics() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("<attribute name=\"id\" attributeType=\"ObjectID\" optional=\"YES\"/>")
        let warned = try generate(bundle)
        #expect(warned.status == 0)
        #expect(
            warned.errors
                == "\(contents.path):4:1: warning: User.id is of type ObjectID, which Strata does not have; it is left out\n"
        )
        try FileManager.default.removeItem(atPath: output)
        try write("<attribute name=\"id\" attributeType=\"String\">")
        let damaged = try generate(bundle)
        #expect(damaged.status == 1 && damaged.output.isEmpty)
        // The parser notices it at the end tag or after it.
        let places = [5, 6].map { "\(contents.path):\($0):1: error: this is not well-formed XML\n" }
        #expect(places.contains(damaged.errors), "\(damaged.errors)")
        #expect(!FileManager.default.fileExists(atPath: output))
        let missing = try generate(folder.path + "/None.xcdatamodeld")
        #expect(missing.status == 1 && missing.errors.contains("None.xcdatamodeld:1:1: error: there is no such file"))
        let other = try StrataTool.run(["--model", bundle, "--output", output], of: "strata-generate")
        #expect(other.status == 1 && other.errors.contains("use the plug-in StrataCoreDataPlugin"), "\(other.errors)")
    }

    @Test(
        "A lock file next to the model records its versions: changes are warnings, and losses are errors until they are renames"
    )
    func lock() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let commit = try StrataTool.run("model", "commit", bundle + "/")
        #expect(commit.status == 0, "\(commit.errors)")
        let lock = folder.appending(path: "Users.strata.lock.yaml").path
        #expect(FileManager.default.fileExists(atPath: lock), "\(commit.output)")
        #expect(try generate(bundle).errors.isEmpty)

        // Another version of the bundle is the same model.
        let third = URL(fileURLWithPath: bundle + "/Users 3.xcdatamodel")
        try FileManager.default.copyItem(at: contents.deletingLastPathComponent(), to: third)
        let copied = try generate(bundle)
        #expect(copied.status == 0 && !copied.errors.contains("has changed"), "\(copied.errors)")
        try FileManager.default.removeItem(at: third)

        let name = "<attribute name=\"name\" attributeType=\"String\"/>"
        try write(name + "<attribute name=\"age\" optional=\"YES\" attributeType=\"Integer 16\"/>")
        let grown = try generate(bundle)
        #expect(
            grown.status == 0 && grown.errors.contains("warning: the model has changed since version 1"),
            "\(grown.errors)")

        try write("<attribute name=\"fullName\" attributeType=\"String\" defaultValueString=\"\"/>")
        let lost = try generate(bundle)
        #expect(lost.status == 1 && lost.errors.contains("declare the renaming ID if it was renamed"), "\(lost.errors)")
        #expect(try StrataTool.run("model", "diff", bundle + "@1", bundle).status == 1)

        try write("<attribute name=\"fullName\" attributeType=\"String\" elementID=\"name\"/>")
        #expect(try generate(bundle).status == 0)
        #expect(try StrataTool.run("model", "commit", bundle).output.contains("Users is version 2 now"))
        #expect(try generate(bundle).errors.isEmpty)
        let doctor = try StrataTool.run("doctor", "--model", bundle, "--json")
        #expect(doctor.output.contains("the lock file has this version as number 2"), "\(doctor.output)")
    }

    @Test("check, show, diagram, convert and hashes read every kind of Core Data model")
    func tools() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = StrataTool.file(ofPackage: "Tests/StrataCoreDataModelTests/Samples")
        let compiled = folder.appending(path: "Test.momd")
        try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: samples.appending(path: "TestModel.mom"), to: compiled.appending(path: "TestModel.mom"))
        for model in [
            bundle, contents.deletingLastPathComponent().path, compiled.path,
            samples.appending(path: "TestModel.mom").path,
        ] {
            for command in [["check"], ["show"], ["diagram", "--format", "dot"], ["convert"], ["hashes", "--json"]] {
                let run = try StrataTool.run(["model", command[0], model] + command.dropFirst())
                #expect(run.status == 0 && !run.output.isEmpty, "\(command) \(model): \(run.errors)")
            }
        }
        let broken = folder.appending(path: "Broken.mom")
        try Data(contentsOf: samples.appending(path: "TestModel.mom")).prefix(2000).write(to: broken)
        for command in ["check", "show", "diagram", "convert", "hashes"] {
            let run = try StrataTool.run("model", command, broken.path)
            #expect(run.status == 1 && run.errors.contains("Broken.mom"), "\(command): \(run.errors)")
        }
    }
}
