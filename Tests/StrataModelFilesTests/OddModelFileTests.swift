import Foundation
import SeededRandom
import SmallThread
import StrataModel
import StrataModelFiles
import Testing

/// Model files that nobody would write on purpose: every one is a model or a list of faults, never a trap.
@Suite struct OddModelFileTests {
    /// Reads a file as the tools do, on the smallest stack that threads have.
    private func faults(_ yaml: String) throws -> [String] {
        try SmallThread.run {
            do throws(ModelError) {
                let file = try ModelFile.read(yaml: yaml, path: "odd.strata.yaml")
                _ = try CodeGenerator(file: file).files()
                _ = file.yaml()
                return []
            } catch {
                return error.faults.map(\.message)
            }
        }
    }

    private func attribute(_ text: String) -> String { "entities: {Thing: {attributes: {a: \(text)}}}" }

    @Test(arguments: [
        "{type: integer16, default: 40000}", "{type: integer64, default: 9223372036854775808}",
        "{type: integer64, min: 5, max: 1}", "{type: integer64, min: nan}", "{type: double, default: nan}",
        "{type: string, minLength: 99999999999999999999}", "{type: string, minLength: -1}",
        "{type: string, maxLength: 1e3}",
        "{type: string, pattern: '('}", "{type: string, pattern: 'a{2147483648}'}",
        "{type: string, pattern: '(a{1000}){1000}'}",
        "{type: date, default: 99999999-99-99}", "{type: geoPoint, default: [91, 0]}",
        "{type: geoPoint, default: [.nan, 0]}",
        "{type: uuid, default: x}", "{type: binary, default: '%%%'}", "{elements: {}}",
        "{elements: {a: {elements: {b: string}}}}",
        "{type: string, derived: sum(a.b)}", "{type: string, derived: 'lowercase(lowercase(a))'}", "[1, 2]", "~", "{}",
        "''",
    ])
    func anAttributeThatMeansNothingIsAFault(_ text: String) throws {
        #expect(try !faults(attribute(text)).isEmpty)
    }

    @Test(arguments: [
        "{type: integer64, default: -9223372036854775808}", "{type: double, default: inf}",
        "{type: decimal, default: 1e100}",
        "{type: integer64, min: -9223372036854775808, max: 9223372036854775807}",
        "{type: string, maxLength: 9223372036854775807}",
        "{type: date, default: 1e300}", "{type: string, default: \"\\0\"}",
    ])
    func theEndsOfTheRangesMakeAModel(_ text: String) throws {
        #expect(try faults(attribute(text)) == [])
    }

    @Test(arguments: ["9223372036854775807", "0"]) func everyLimitOfAFetchMakesAModel(_ limit: String) throws {
        #expect(try faults("entities: {Thing: {}}\nfetches: {all: {entity: Thing, limit: \(limit)}}") == [])
    }

    @Test(arguments: ["9223372036854775808", "-1", "1.5", "many"]) func aLimitThatIsNoneIsAFault(_ limit: String) throws
    {
        #expect(try !faults("entities: {Thing: {}}\nfetches: {all: {entity: Thing, limit: \(limit)}}").isEmpty)
    }

    @Test func deepNestingIsAFaultAndDoesNotOverflowTheStack() throws {
        for count in [100, 1000, 100_000] {
            for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
                let nested = String(repeating: open, count: count) + "x" + String(repeating: close, count: count)
                #expect(try !faults(nested).isEmpty, "\(count) \(open)")
                #expect(try !faults("entities: {Thing: {attributes: {a: \(nested)}}}").isEmpty, "\(count) \(open)")
            }
        }
        let condition = String(repeating: "(", count: 10_000) + "a == 1" + String(repeating: ")", count: 10_000)
        #expect(
            try !faults(
                "entities: {Thing: {attributes: {a: integer64}}}\nfetches: {f: {entity: Thing, where: '\(condition)'}}"
            ).isEmpty)
    }

    @Test func aliasesThatMultiplyAreAFault() throws {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...30 {
            let names = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(names)]\n"
        }
        let started = ContinuousClock.now
        #expect(try !faults(text).isEmpty)
        #expect(try !faults("x: &x {y: *x}").isEmpty)
        #expect(ContinuousClock.now - started < .seconds(20))
    }

    @Test func namesThatAreNoNamesAreFaults() throws {
        for name in [
            "", "1", "a b", "thing", "_Thing", "Thing.Part", "🙂", "Thing\\0",
            String(repeating: "T", count: 100_000) + "-",
        ] {
            #expect(try !faults("entities: {\"\(name)\": {}}").isEmpty, "\(name.prefix(20))")
        }
        #expect(try faults("entities: {\(String(repeating: "T", count: 1000)): {}}") == [])
    }

    @Test func inheritanceHasALimit() throws {
        var text = "entities:\n  E0: {}\n"
        for level in 1...20 { text += "  E\(level): {inherits: E\(level - 1)}\n" }
        #expect(try faults(text) == [])
        for level in 21...300 { text += "  E\(level): {inherits: E\(level - 1)}\n" }
        let found = try faults(text)
        #expect(found.contains { $0.contains("inherits over") }, "\(found.prefix(3))")
    }

    @Test func bytesThatAreNoTextAreAFault() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("odd-\(UUID().uuidString).strata.yaml")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var random = SplitMix64(seed: RunSeed.value())
        for bytes in [
            Data([0xFF, 0xFE, 0xFD]), Data([0]),
            Data((0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) }),
        ] {
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(throws: ModelError.self) { try ModelFile.read(path: path) }
        }
    }
}
