import SeededRandom
import StrataRemote

/// What a server of a simulation can do, and what therefore can be asked of those who use it.
public struct ServerVariant: Sendable, Hashable, CustomStringConvertible {
    public var description: String
    var features: RemoteCapabilities.Features
    var maximumBatch = 1
    /// Whether clients speak to it by HTTP, in a dialect.
    public var isHTTP = false
    /// The most objects of an answer to a query.
    var maximumPage: Int? { features.contains(.paging) ? 4 : nil }

    var isConditional: Bool { features.contains(.conditionalWrites) }
    /// Whether several writes go in one request.
    public var sendsGroups: Bool { maximumBatch > 1 }
    /// Whether pulls ask for what is new.
    public var tellsNews: Bool { features.contains(.incrementalPull) }
    var hasTokens: Bool { features.contains(.idempotencyTokens) }

    /// All kinds of servers that are simulated.
    public static let all: [ServerVariant] = [
        ServerVariant(
            description: "complete",
            features: [
                .conditionalWrites, .idempotencyTokens, .incrementalPull, .deletions, .relating, .batches,
                .creatingMany, .readingMany,
            ], maximumBatch: 5),
        ServerVariant(
            description: "single writes",
            features: [
                .conditionalWrites, .idempotencyTokens, .incrementalPull, .deletions, .relating, .readingMany,
            ]),
        ServerVariant(
            description: "no tokens", features: [.conditionalWrites, .incrementalPull, .deletions]),
        ServerVariant(
            description: "no news",
            features: [.conditionalWrites, .idempotencyTokens, .paging, .sorting, .selecting, .relating]),
        ServerVariant(
            description: "news without deletions",
            features: [.conditionalWrites, .idempotencyTokens, .incrementalPull, .paging, .sorting, .relating]),
        ServerVariant(description: "plain", features: [.readingMany, .creatingMany, .paging, .sorting]),
        ServerVariant(
            description: "news alone", features: [.incrementalPull, .paging, .sorting, .relating, .readingMany]),
        ServerVariant(
            description: "over HTTP",
            features: [
                .conditionalWrites, .incrementalPull, .deletions, .readingMany, .creatingMany, .paging,
            ], maximumBatch: 5, isHTTP: true),
    ]

    /// The same, and perhaps able to do operations.
    func computing(_ random: inout SplitMix64) -> ServerVariant {
        var result = self
        guard !isHTTP else { return result }
        if random.chance(0.7) { result.features.insert(.increments) }
        if random.chance(0.5) { result.features.insert(.arrayOperations) }
        return result
    }
}
