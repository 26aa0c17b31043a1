import Foundation
import SeededRandom
import StrataQuery
import Testing

/// Long constant lists are searched by hash when a condition is evaluated for many objects; the answers are those of a
/// search one by one.
@Suite struct MembershipTests {
    /// Values of which some are equal though they differ in type, and some differ though they look alike.
    private static func value(_ random: inout SplitMix64) -> Value {
        let number = Int64.random(in: -20...20, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1: return .integer(number)
        case 2: return .double(Double(number))
        case 3: return .double(Double(number) / 4)
        case 4: return .decimal(Decimal(number) / 4)
        case 5: return .boolean(number > 0)
        case 6: return .string(["e\u{301}", "\u{e9}", "E", "http://a/\(number)", "\(number)"][Int(number + 20) % 5])
        case 7: return URL(string: "http://a/\(number)").map(Value.uri) ?? .null
        case 8: return .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case 9: return .binary(Data([UInt8(number + 20)]))
        case 10: return .uuid(UUID(uuid: (UInt8(number + 20), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case 11: return .list([.integer(number), .double(1)])
        case 12: return .geoPoint(GeoPoint(latitude: Double(number), longitude: 0))
        default:
            let extremes: [Value] = [
                .null, .double(.nan), .double(-0.0), .double(1e300), .integer(.max), .double(0x1p63),
            ]
            return extremes[Int(number + 20) % extremes.count]
        }
    }

    @Test func aPreparedPredicateAnswersAsThePlainOne() throws {
        let seed = RunSeed.value()
        var random = SplitMix64(seed: seed)
        let environment = EvaluationEnvironment()
        for _ in 0..<200 {
            let elements = (0..<Int.random(in: 0..<60, using: &random)).map { _ in Self.value(&random) }
            let others = (0..<40).map { _ in Self.value(&random) }
            let path = FetchExpression.keyPath(["a"])
            let constant = Bool.random(using: &random) ? Value.list(elements) : .set(ValueSet(elements))
            let parts: [FetchPredicate] = [
                .comparison(path, .isIn, .constant(constant), []),
                .comparison(path, .isIn, .constant(.list(others)), []),
                .not(.comparison(path, .isIn, .constant(constant), .caseInsensitive)),
            ]
            for predicate in parts + [.and(parts), .or(parts)] {
                let prepared = PreparedPredicate(predicate, environment)
                for _ in 0..<10 {
                    let object = Value.composite(["a": Self.value(&random)])
                    let expected = try predicate.evaluate(on: object, environment: environment)
                    #expect(try prepared.evaluate(on: object) == expected, "seed \(seed): \(predicate) for \(object)")
                }
            }
        }
    }
}
