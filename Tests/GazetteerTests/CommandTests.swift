import ChildProcesses
import Foundation
import Testing

@testable import Gazetteer

/// The built program, run as a user runs it.
@Suite("The command line")
struct CommandTests {
    private let folder = TemporaryFolder()

    private struct Outcome {
        let status: Int32
        let out: String
        let error: String
    }

    private func gazetteer(_ arguments: String..., environment: [String: String] = [:]) throws -> Outcome {
        try gazetteer(arguments, environment: environment)
    }

    private func gazetteer(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
        let tests = try #require(Bundle.main.executableURL).resolvingSymlinksInPath()
        let process = Process()
        process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("Gazetteer")
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Files rather than pipes, so that no output can fill a pipe and block the program.
        let (out, error) = (folder.url.appendingPathComponent("out"), folder.url.appendingPathComponent("error"))
        for file in [out, error] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: error)
        process.standardInput = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, out: try String(contentsOf: out, encoding: .utf8),
            error: try String(contentsOf: error, encoding: .utf8))
    }

    @Test("A run on small data succeeds, in plain text, and makes the file that was asked for")
    func run() throws {
        let data = try SmallData()
        let outcome = try gazetteer(
            "--data", data.url.path, "--country", "AA", "--store", "world.sqlite", "--search", "one",
            environment: ["NO_COLOR": "1"])
        #expect(outcome.status == 0)
        #expect(outcome.error == "")
        #expect(!outcome.out.contains("\u{1B}") && !outcome.out.contains("\r"))
        #expect(outcome.out.contains("Done: 13 steps"))
        #expect(FileManager.default.fileExists(atPath: folder.path("world.sqlite")))
    }

    #if Server
        @Test("--online does only the steps with a server, and needs no file")
        func online() throws {
            let outcome = try gazetteer("--online", "--country", "Monaco")
            #expect(outcome.status == 0 && outcome.error == "")
            #expect(outcome.out.hasPrefix("1  A server, and a store that was filled without it"))
            #expect(outcome.out.contains("✓ Ana, Ben and the server have the same"))
            #expect(!FileManager.default.fileExists(atPath: folder.path("gazetteer.sqlite")))
        }

        @Test("--dialect chooses the protocol of the steps with a server")
        func dialect() throws {
            let outcome = try gazetteer("--online", "--country", "Monaco", "--dialect", "parse")
            #expect(outcome.status == 0 && outcome.error == "")
            #expect(outcome.out.contains("and speaks Parse."))
            #expect(outcome.out.contains("✓ Ana, Ben and the server have the same"))
            #expect(try gazetteer("--online", "--dialect", "kinto").status == 64)
        }
    #endif

    @Test("--offline does only the steps without a server")
    func offline() throws {
        let data = try SmallData()
        let outcome = try gazetteer("--offline", "--data", data.url.path, "--country", "AA")
        #expect(outcome.status == 0 && outcome.error == "")
        #expect(outcome.out.contains("Done: 13 steps") && !outcome.out.contains("server"))
    }

    @Test("--help tells what the program does and names every option")
    func help() throws {
        let outcome = try gazetteer("--help")
        #expect(outcome.status == 0 && outcome.error == "")
        var options = [
            "--store", "--force", "--country", "--top", "--search", "--page-size", "--pages", "--full-sql", "--data",
            "--online", "--offline",
        ]
        #if Server
            options += ["--dialect"] + OnlineDialect.allCases.map(\.rawValue)
        #endif
        for option in options { #expect(outcome.out.contains(option), "\(option)") }
        #expect(outcome.out.contains("NO_COLOR") && outcome.out.contains("EXAMPLES"))
    }

    @Test(
        "Mistakes give one line on the error output and an exit code that is not 0",
        arguments: [
            (["--bogus"], "--bogus"), (["--top", "0"], "--top must be at least 1, not 0"), (["--top", "many"], "many"),
            (["--search", ""], "--search must not be empty"), (["stray"], "stray"),
            (["--online", "--offline"], "--online and --offline exclude each other"),
            (["--data", "/nonexistent"], "the GeoNames data is missing"),
            (["--country", "Perru"], "did you mean “Peru”?"), (["--country", "Antarctica"], "has no cities"),
            (["--country", "AA", "--store", "/nonexistent/folder/x.sqlite"], "/nonexistent/folder/x.sqlite"),
            (["--country", "AA", "--store", "/proc/x.sqlite"], "/proc/x.sqlite"),
        ])
    func mistakes(arguments: [String], message: String) throws {
        var arguments = arguments
        let data = try SmallData()
        if arguments.contains("AA") { arguments += ["--data", data.url.path] }
        let outcome = try gazetteer(arguments)
        #expect(outcome.status != 0)
        #expect(outcome.error.contains(message), "\(outcome.error)")
        #expect(outcome.error.hasPrefix("Gazetteer: ") && outcome.error.hasSuffix("\n"))
        #expect(outcome.error.filter { $0 == "\n" }.count == 1, "\(outcome.error)")
    }

    @Test("A file that is no store is refused and stays; --force replaces it")
    func foreignFile() throws {
        let data = try SmallData()
        let diary = folder.url.appendingPathComponent("diary.txt")
        try Data("Dear diary, nothing happened today.".utf8).write(to: diary)
        let refused = try gazetteer("--data", data.url.path, "--country", "AA", "--store", "diary.txt")
        #expect(refused.status == 1)
        #expect(refused.error.contains("diary.txt is not a store of the Gazetteer"))
        #expect(refused.error.contains("--force"))
        #expect(try String(contentsOf: diary, encoding: .utf8).hasPrefix("Dear diary"))
        let forced = try gazetteer("--data", data.url.path, "--country", "AA", "--store", "diary.txt", "--force")
        #expect(forced.status == 0, "\(forced.error)")
        #expect(try Data(contentsOf: diary).starts(with: Data("SQLite format 3".utf8)))
    }

    @Test("Damaged data stops the program before the old store is touched")
    func damagedData() throws {
        let data = try SmallData()
        #expect(try gazetteer("--data", data.url.path, "--country", "AA").status == 0)
        let before = try Data(contentsOf: folder.url.appendingPathComponent("gazetteer.sqlite"))
        try data.replace("\t300\t", by: "\tthree hundred\t", in: "cities.tsv")
        let outcome = try gazetteer("--data", data.url.path, "--country", "AA")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("cities.tsv:3: population is “three hundred”"))
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("gazetteer.sqlite")) == before)
    }
}
