import Foundation
import SmallThread
import StrataQuery
import Testing

/// Conditions that code puts together, however many and however deep.
@Suite struct BuiltTreeTests {
    private func term(_ number: Int) -> FetchPredicate {
        .comparison(.keyPath(["a"]), .equal, .constant(.integer(Int64(number))), [])
    }

    /// Prints, hashes, compares, evaluates and releases a tree on the smallest stack that threads have.
    private func exercise(_ tree: @escaping @Sendable () -> FetchPredicate) throws {
        try SmallThread.run {
            let predicate = tree()
            #expect(!predicate.description.isEmpty)
            #expect(predicate == tree())
            #expect(predicate.hashValue == tree().hashValue)
            #expect(PredicateShape(predicate) == PredicateShape(tree()))
            #expect(predicate.keyPaths.count >= 0)
            #expect(throws: PredicateEvaluationError.nestedTooDeeply) {
                try predicate.withVariables(["v": 1]).evaluate(on: Value.composite(["a": 1, "l": [1]]))
            }
        }
    }

    @Test func conditionsJoinedInALoopAreOneListWhicheverSideGrows() throws {
        let terms = (0..<4_000).map(term)
        var left = terms[0]
        for next in terms.dropFirst() { left = left || next }
        #expect(left == .or(terms))
        var right = terms[3_999]
        for next in terms.dropLast().reversed() { right = next && right }
        #expect(right == .and(terms))
        #expect(!left.description.contains("("))
        #expect(try left.evaluate(on: Value.composite(["a": 3_999])))
        #expect(try !right.evaluate(on: Value.composite(["a": 3])))
    }

    @Test func joiningTwoListsGivesOneList() {
        let terms = (0..<6).map(term)
        let four = (terms[0] && terms[1]) && (terms[2] && terms[3])
        #expect(four == FetchPredicate.and(Array(terms[..<4])))
        let three = terms[0] || (terms[1] || terms[2])
        #expect(three == FetchPredicate.or(Array(terms[..<3])))
        let mixed = terms[0] && (terms[1] || terms[2])
        #expect(mixed == FetchPredicate.and([terms[0], .or([terms[1], terms[2]])]))
        let negated = !(terms[0] && terms[1]) && terms[2]
        #expect(negated == FetchPredicate.and([.not(.and([terms[0], terms[1]])), terms[2]]))
    }

    @Test func aConditionNestedByALoopIsRefusedAndNeverOverflowsTheStack() throws {
        let leaf = term(1)
        try exercise { (0..<200_000).reduce(leaf) { tree, _ in !tree } }
        try exercise { (0..<200_000).reduce(leaf) { tree, number in number % 2 == 0 ? tree && leaf : tree || leaf } }
        try exercise { (0..<200_000).reduce(leaf) { tree, number in number % 2 == 0 ? leaf && tree : leaf || tree } }
        try exercise {
            (0..<200_000).reduce(leaf) { tree, _ in
                .comparison(
                    .path(.subquery(.keyPath(["l"]), "x", tree), ["@count"]), .greater, .constant(.integer(0)), [])
            }
        }
    }

    @Test func anExpressionNestedByALoopIsRefusedAndNeverOverflowsTheStack() throws {
        let steps: [@Sendable (FetchExpression) -> FetchExpression] = [
            { .function(.add, [$0, .constant(1)]) }, { .function(.add, [.constant(1), $0]) },
            { .function(.absolute, [$0]) }, { .cast($0, .number) }, { .aggregate([$0, .keyPath(["a"])]) },
            { .path($0, ["x"]) }, { .index($0, .first) }, { .index(.keyPath(["l"]), .at($0)) },
            { .method($0, .count, []) }, { .ternary(.constant(true), $0, .constant(1)) },
            { .ternary(.comparison($0, .equal, .constant(1), []), .constant(1), .constant(1)) },
            { .distance($0, .constant(1), earthRadius: 1) },
        ]
        for step in steps {
            try exercise {
                let tree = (0..<200_000).reduce(FetchExpression.keyPath(["a"])) { tree, _ in step(tree) }
                return .comparison(tree, .equal, .constant(1), [])
            }
        }
        try exercise {
            let deep = (0..<200).reduce(FetchExpression.keyPath(["a"])) { tree, _ in .cast(tree, .geoPoint) }
            return .geo(.near(deep, .constant(.list([1, 2]))))
        }
    }

    @Test func whatAFormatMayHoldLeavesRoomForConditionsAroundIt() throws {
        let format = String(repeating: "NOT ", count: PredicateLimits.nesting - 2) + "a == 1"
        let deepest = try FetchPredicate(format: format)
        let around = !(deepest && term(2)) || term(3)
        #expect(try around.evaluate(on: Value.composite(["a": 1])))
    }
}
