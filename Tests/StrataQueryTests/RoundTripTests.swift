import Foundation
import SeededRandom
import StrataQuery
import Testing

/// Makes random trees in the form that the parser gives them.
struct TreeMaker {
    var random: SplitMix64

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    mutating func one<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
    mutating func some<T>(_ range: ClosedRange<Int>, _ make: (inout TreeMaker) -> T) -> [T] {
        (0..<Int.random(in: range, using: &random)).map { _ in make(&self) }
    }

    mutating func name() -> String {
        one([
            "a", "name", "order", "in", "SELF", "first", "größe", "odd key", "x.y", "it's", "@foo", "9lives", "",
            "near", "\\", "日本", "a\u{301}",
        ])
    }

    mutating func path() -> [String] {
        some(1...3) { $0.below(5) == 0 ? $0.one(CollectionOperator.allCases).rawValue : $0.name() }
    }

    mutating func value(_ depth: Int) -> Value {
        switch below(depth > 0 ? 16 : 13) {
        case 0: .null
        case 1: .integer(one([0, 1, -1, .max, .min, 42]))
        case 2: .double(one([0, -0.5, 1e300, 1e-300, 0.1, .infinity, -.infinity, 3]))
        case 3: .decimal(Decimal(string: one(["0", "-1.5", "123456789012345678901234567890.5"]))!)
        case 4, 5:
            .string(one(["", "it's", "\"", "\\", "a\nb\r\n\t", "\u{0}1", "é", "e\u{301}", "%@ $x", "\u{301}", "😀"]))
        case 6: .boolean(below(2) == 0)
        case 7: .date(Date(timeIntervalSinceReferenceDate: one([0, -0.25, 1e9, 123.456])))
        case 8: .binary(one([Data(), Data([0, 255, 16])]))
        case 9: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(below(256)))))
        case 10: .uri(URL(string: one(["https://example.org/a?b=c", "a'b"]))!)
        case 11: .geoPoint(GeoPoint(latitude: one([0, -48.25]), longitude: one([2.5, -180])))
        case 12: .object(Int64(below(100)))
        case 13: .list(some(0...3) { $0.value(depth - 1) })
        case 14: .set(ValueSet(some(0...3) { $0.value(depth - 1) }))
        default: .composite([name(): value(depth - 1), "k": value(0)])
        }
    }

    mutating func expression(_ depth: Int) -> FetchExpression {
        guard depth > 0 else {
            switch below(5) {
            case 0, 1: return .constant(value(1))
            case 2: return .evaluatedObject
            case 3: return .variable(name())
            default: return .keyPath(path())
            }
        }
        let inner = depth - 1
        switch below(11) {
        case 0: return .path(expression(inner), path())
        case 1: return .aggregate([expression(inner)] + some(0...2) { $0.expression(inner) })
        case 2, 3:
            let function = one(FetchFunction.allCases)
            let count = Int.random(in: function.arity.lowerBound...min(function.arity.upperBound, 3), using: &random)
            return .function(function, (0..<count).map { _ in expression(inner) })
        case 4:
            return .index(expression(inner), below(2) == 0 ? .at(expression(inner)) : one([.first, .last, .size]))
        case 5: return .subquery(expression(inner), name(), predicate(inner))
        case 6: return .ternary(predicate(inner), expression(inner), expression(inner))
        case 7: return .cast(expression(inner), one(CastType.allCases))
        case 8:
            let method = one(FetchMethod.allCases)
            return .method(expression(inner), method, (0..<method.arity).map { _ in expression(inner) })
        case 9: return .distance(expression(inner), expression(inner), earthRadius: radius())
        default: return expression(0)
        }
    }

    mutating func radius() -> Double { one([GeoCondition.meanEarthRadius, 1, 6378.137]) }

    mutating func predicate(_ depth: Int) -> FetchPredicate {
        let inner = depth - 1
        switch below(depth > 0 ? 9 : 1) {
        case 1: return .not(predicate(inner))
        case 2: return .and(some(2...4) { $0.predicate(inner) })
        case 3: return .or(some(2...4) { $0.predicate(inner) })
        case 4:
            return .quantified(
                one(ComparisonQuantifier.allCases), expression(inner), one(ComparisonOperator.allCases),
                expression(inner), ComparisonOptions(rawValue: UInt8(below(16))))
        case 5: return .geo(.near(expression(inner), expression(inner), earthRadius: radius()))
        case 6:
            return .geo(
                .within(
                    expression(inner), expression(inner), distance: expression(inner), one(GeoUnit.allCases),
                    earthRadius: radius()))
        case 7: return .geo(.box(expression(inner), southWest: expression(inner), northEast: expression(inner)))
        case 8: return .constant(below(2) == 0)
        default:
            return .comparison(
                expression(max(0, inner)), one(ComparisonOperator.allCases), expression(max(0, inner)),
                ComparisonOptions(rawValue: UInt8(below(16))))
        }
    }
}

@Suite struct RoundTripTests {
    @Test func printedTreesAreReadAsTheSame() throws {
        let seed = RunSeed.value()
        print("printedTreesAreReadAsTheSame: seed \(seed)")
        var maker = TreeMaker(random: .init(seed: seed))
        for round in 0..<4000 {
            let tree = maker.predicate(4)
            let text = tree.description
            let again = Result { () throws(PredicateParseError) in try FetchPredicate(format: text) }
            guard case .success(let read) = again, read == tree, read.description == text else {
                Issue.record("seed \(seed), round \(round): \(text) gave \(again)")
                return
            }
        }
    }

    /// The shape is the same for other constants of the same kinds, and for nothing else.
    @Test func shapesLeaveConstantsOut() throws {
        func shape(_ format: String) throws -> PredicateShape { PredicateShape(try FetchPredicate(format: format)) }
        #expect(try shape("a == 1 AND b LIKE 'x'") == shape("a == 2 AND b LIKE 'y*'"))
        #expect(try shape("a == 1").constants == [.integer(1)])
        #expect(try shape("a IN {1, 2, 3}") == shape("a IN {4, 5, 6, 7, 8}"))
        #expect(try shape("near(p, {1, 2})") == shape("near(p, {3, 4}, 6378.0)"))
        for (a, b) in [
            ("a == 1", "b == 1"), ("a == 1", "a == nil"), ("a == 1", "a == 1.0"), ("a == 1", "a != 1"),
            ("a == 'x'", "a ==[c] 'x'"), ("a == ''", "a == 'x'"), ("a IN {}", "a IN {1}"),
            ("a IN {1, 2}", "a IN {1, 'x'}"),
            ("a == 1 AND b == 2", "a == 1 OR b == 2"), ("ANY a == 1", "ALL a == 1"), ("ab.c == 1", "a.bc == 1"),
        ] {
            #expect(try shape(a) != shape(b), "\(a) and \(b)")
        }
    }
}
