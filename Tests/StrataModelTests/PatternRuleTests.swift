import Foundation
import StrataModel
import Testing

/// The `pattern` rule of attributes, as far as the model itself checks it.
@Suite struct PatternRuleTests {
    private func faults(_ pattern: String, default value: String? = nil) -> [String] {
        let attribute = Attribute("code", .string, default: value.map { .value(.string($0)) }).matching(pattern)
        return ManagedObjectModel.faults(in: [Entity("Thing") { attribute }]).map(\.message)
    }

    @Test func aPatternIsInStratasOwnDialect() {
        #expect(faults("[A-Z]{2}[0-9]{2}").isEmpty)
        #expect(faults("(?x) [A-Z]+ # letters").isEmpty)
        #expect(faults("(unclosed").first?.contains("at position") == true)
        #expect(faults("\\X").count == 1)
        #expect(faults("(?w)a").count == 1)
    }

    @Test func aDefaultMustMatchAsAWhole() {
        #expect(faults("[A-Z]{2}[0-9]{2}", default: "AB12").isEmpty)
        #expect(faults("[A-Z]{2}[0-9]{2}", default: "AB12\n").count == 1)
        #expect(faults("[A-Z]{2}[0-9]{2}", default: "xAB12").count == 1)
        #expect(faults("(?x) [A-Z]+ # letters", default: "AB").isEmpty)
        #expect(faults("(?x) [A-Z]+ # letters", default: "ab").count == 1)
        #expect(faults("a|ab", default: "ab").isEmpty)
    }

    @Test func aDefaultIsCheckedInBoundedTime() {
        let started = ContinuousClock.now
        #expect(faults("(a+)+", default: String(repeating: "a", count: 40) + "!").count == 1)
        #expect(ContinuousClock.now - started < .seconds(5))
    }

    @Test func rulesOfADerivedAttributeAreForThoseThatASaveComputes() {
        func faults(_ attribute: Attribute) -> [String] {
            ManagedObjectModel.faults(in: [
                Entity("Thing") {
                    Attribute("name", .string)
                    Relationship("parts", to: "Part", .toMany, inverse: "thing")
                    attribute
                },
                Entity("Part") { Relationship("thing", to: "Thing", inverse: "parts") },
            ]).map(\.message)
        }
        #expect(faults(Attribute("key", .string).derived(.canonical("name")).length(1...10)).isEmpty)
        #expect(faults(Attribute("changed", .date).derived(.now).range(...Date.distantFuture)).isEmpty)
        let counted = faults(Attribute("size", .integer64).derived(.count("parts")).range(1...5))
        #expect(counted.count == 1 && counted[0].contains("never checked"))
    }
}
