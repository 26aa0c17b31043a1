import Foundation
import SeededRandom
import Strata
import StrataRemote
import StrataStore

/// How one client works, for its whole life.
struct Habits {
    /// How far its clock is ahead in the beginning, in seconds.
    var skew: Double
    /// Whether it works with a context on its store, or writes to the mirror itself.
    var usesContext: Bool
    /// Whether its context applies what others save at once.
    var mergesAutomatically: Bool
    /// What its context does in conflicts.
    var mergePolicy: MergePolicy
    /// How many contexts change the other objects.
    var contexts: Int
    /// How many contexts change its tallies, if there are some.
    var tallyContexts: Int
    /// Whether its mirror is a file.
    var usesFile: Bool
    /// Whether each save to the mirror starts a push.
    var pushesAutomatically: Bool
    /// What wins in conflicts with the server.
    var policies: ConflictPolicies
    /// Whether that may be its own values, although it has not seen those of others.
    var overrules: Bool

    /// Whether its changes may be put over values that it has not seen.
    var maySaveUnseen: Bool { overrules || usesContext && (mergesAutomatically || mergePolicy != .error) }

    init(_ random: inout SplitMix64) {
        skew = (random.unit() - 0.5) * 600
        usesContext = random.chance(0.5)
        mergesAutomatically = random.chance(0.7)
        mergePolicy = random.chance(0.7) ? .error : .objectWinsByProperty
        let hasTwo = random.chance(0.25)
        contexts = usesContext ? hasTwo ? 2 : 1 : 0
        tallyContexts = random.chance(0.3) ? 2 : 1
        usesFile = random.chance(0.15)
        pushesAutomatically = random.chance(0.2)
        policies = ConflictPolicies()
        overrules = false
        guard random.chance(0.25) else { return }
        let choices = SplitMix64(seed: random.next())
        switch random.below(4) {
        case 0: policies = ConflictPolicies(.clientWins)
        case 1: policies = ConflictPolicies(.serverModifiedWins)
        case 2: policies = ConflictPolicies(.lastModifiedWins)
        default:
            let source = Guarded(choices)
            policies = ConflictPolicies(.decide { _ in source.withLock { $0.one(of: [.client, .server, .merge]) } })
        }
        if case .serverModifiedWins? = policies.standard { return }
        overrules = true
    }
}
