import Foundation
import SeededRandom
import StrataWire
import Testing

/// Laws on random values. A failure prints the seed that repeats it: put it in place of the random one.
@Suite struct JSONPropertyTests {
    private let seed = RunSeed.value()

    @Test func whatIsWrittenIsReadAsTheSameValue() throws {
        var make = RandomJSON(seed: seed)
        for round in 0..<3_000 {
            let value = make.value()
            let text = try value.text()
            let again = try JSONValue(parsing: text)
            #expect(again == value, "seed \(seed), round \(round): \(text)")
            #expect(try again.text() == text, "seed \(seed), round \(round)")
            #expect(try JSONValue(parsing: value.data(sortingNames: true)) == value, "seed \(seed), round \(round)")
        }
    }

    @Test func everySpellingOfAValueIsReadAsIt() throws {
        var make = RandomJSON(seed: seed)
        for round in 0..<3_000 {
            let value = make.value()
            let text = make.spelling(value)
            #expect(try JSONValue(parsing: text) == value, "seed \(seed), round \(round): \(text)")
        }
    }

    @Test func numbersOfEveryCaseKeepTheirValue() throws {
        var make = RandomJSON(seed: seed)
        for round in 0..<20_000 {
            let number = make.double()
            #expect(try JSONValue(parsing: JSONValue.double(number).text()).double == number, "seed \(seed), \(round)")
            // Digits beyond the shortest ones, as other programs print them.
            let long = String(format: "%.17g", number)
            #expect(try JSONValue(parsing: long).double == number, "seed \(seed), round \(round): \(long)")
            let whole = Decimal(make.integer())
            #expect(try JSONValue(parsing: JSONValue.decimal(whole).text()).decimal == whole, "seed \(seed), \(round)")
        }
    }

    @Test func whatIsChangedAtRandomNeverTrapsAndIsReadIfItIsJSON() throws {
        var make = RandomJSON(seed: seed)
        var counts = (read: 0, refused: 0)
        for round in 0..<15_000 {
            var bytes = Array(make.spelling(make.value(depth: 3)).utf8)
            for _ in 0...make.random.below(3) { bytes = make.mutation(of: bytes) }
            let note = "seed \(seed), round \(round): \(String(decoding: bytes, as: UTF8.self))"
            switch Result(catching: { () throws(JSONError) in try JSONValue(parsing: Data(bytes)) }) {
            case .success(let value):
                counts.read += 1
                #expect(try JSONValue(parsing: value.text()) == value, "\(note)")
                #expect(JSONReference.isJSON(bytes), "\(note)")
            case .failure(let error):
                counts.refused += 1
                #expect((0...bytes.count).contains(error.offset), "\(note)")
                if error.reason.contains("fits neither") { continue }
                #expect(!JSONReference.isJSON(bytes), "\(note) \(error)")
            }
        }
        #expect(counts.read > 1_000 && counts.refused > 1_000, "\(counts)")
    }

    @Test func randomBytesNeverTrap() {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("[]{}\",:\\u0123e+-.truefalsn \u{E9}".utf8)
        for _ in 0..<50_000 {
            let bytes = (0..<random.below(24)).map { _ in
                random.oneIn(4) ? UInt8(truncatingIfNeeded: random.next()) : alphabet[random.below(alphabet.count)]
            }
            _ = try? JSONValue(parsing: Data(bytes))
        }
    }
}
