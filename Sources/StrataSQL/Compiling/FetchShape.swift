import Foundation
import StrataStore

/// A fetch without the values that it compares and orders with, and these values. Fetches of one shape are one SQL text with other
/// bindings, so that a connection translates and prepares it once; see ``FetchCache``.
package struct FetchShape {
    /// What fetches of one shape have in common.
    package struct Key: Sendable {
        package let answer: FetchCompiler.Answer
        package let entityIndex: Int
        package let includesSubentities: Bool
        package let hasLimit: Bool
        package let hasOffset: Bool
        /// Whether only what lies within an angle of a point is looked at; see ``NearestSearch``.
        package let hasAngle: Bool
        /// Whether the table is passed over instead of looking up each element of a list; see ``ListScan``.
        package let scansLists: Bool
        /// Whether a mirror finds what it knows only in part, too.
        package let findsParts: Bool
        /// The structure of the condition and the order.
        package let structure: [UInt8]
        package let hash: Int

        package static func == (a: Key, b: Key) -> Bool {
            a.hash == b.hash && a.answer == b.answer && a.entityIndex == b.entityIndex && a.hasAngle == b.hasAngle
                && a.scansLists == b.scansLists && a.includesSubentities == b.includesSubentities
                && a.hasLimit == b.hasLimit
                && a.hasOffset == b.hasOffset && a.findsParts == b.findsParts && a.structure == b.structure
        }
    }

    package let key: Key
    /// The constants of the condition and of the order, in the order in which they are there, and the angle after them.
    package let constants: [Value]

    /// - Parameters:
    ///   - angle: How far, in radians, objects may be from the point whose nearest are asked for.
    ///   - scansLists: Whether the table is passed over instead of looking up each element of a list.
    package init(_ plan: FetchPlan, _ answer: FetchCompiler.Answer, angle: Double? = nil, scansLists: Bool = false) {
        let shape = PredicateShape(plan.predicate, sorts: plan.sorts, environment: plan.environment)
        let findsParts = plan.toldSlots != nil
        var hasher = Hasher()
        hasher.combine(plan.entityIndex)
        hasher.combine(
            answer.rawValue | (plan.limit == nil ? 0 : 8) | (plan.offset > 0 ? 16 : 0)
                | (plan.includesSubentities ? 32 : 0) | (angle == nil ? 0 : 64) | (scansLists ? 128 : 0)
                | (findsParts ? 256 : 0))
        hasher.combine(shape)
        constants = angle.map { shape.constants + [.double($0)] } ?? shape.constants
        key = Key(
            answer: answer, entityIndex: plan.entityIndex, includesSubentities: plan.includesSubentities,
            hasLimit: plan.limit != nil, hasOffset: plan.offset > 0, hasAngle: angle != nil, scansLists: scansLists,
            findsParts: findsParts, structure: shape.bytes, hash: hasher.finalize())
    }
}
