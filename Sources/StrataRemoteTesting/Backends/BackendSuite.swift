import Strata
import StrataRemote

/// The laws that a back end must obey so that stores over it lose nothing.
///
///     let failures = await BackendSuite.run(servers, laws: [.pairing, .conditionalWrites])
///     for failure in failures { print(failure.law, failure.check, failure.message) }
///
/// Each law is checked with real operations, on a new server for each check. Features that the back end does not declare in its
/// ``RemoteCapabilities`` are not required; a declared one must work. The last law, ``Law/synchronization``, lets two stores
/// work over a network that loses requests and answers, and compares both with the server.
///
/// Describe your server as a ``BackendSubject``. ``DialectSuite`` checks the requests and answers of an HTTP dialect, without a
/// server.
public enum BackendSuite {
    /// The laws.
    public enum Law: String, Sendable, Hashable, CaseIterable {
        /// Each write has one outcome, in order, about its own object.
        case pairing
        /// A write to an old version changes nothing.
        case conditionalWrites = "conditional writes"
        /// A write is done once, however often it is sent.
        case idempotency
        /// Pulls report each change, and end.
        case cursors
        /// Queries return all requested objects, each once.
        case paging
        /// Groups of the largest size are taken.
        case groups
        /// Primary keys come back as they were sent.
        case identities
        /// New objects get primary keys of the server's own. Only for back ends with
        /// ``RemoteCapabilities/Features/assignsIDs``. The other laws hold for the keys that these give; what only a client
        /// that chooses keys can ask for is left out.
        case assignedKeys = "assigned keys"
        /// Values come back as they were sent.
        case values
        /// Objects that do not exist are told apart from those that do.
        case visibility
        /// A back end refuses undeclared features as unsupported.
        case claims
        /// Two clients over a bad network end up with the state of the server.
        case synchronization
    }

    /// A check that failed.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The law that is broken.
        public var law: Law
        /// The check.
        public var check: String
        /// What was seen.
        public var message: String

        /// Law, check and what was seen.
        public var description: String { "\(law.rawValue): \(check): \(message)" }
    }

    /// One thing that must hold.
    struct Check: Sendable {
        /// Which back ends a check can be made of, by who gives objects their primary keys.
        enum Keys {
            case any, chosen
            /// Chosen by the client, or given by a server that knows a repeated creation.
            case chosenOrRepeatable
        }

        let name: String
        let needs: RemoteCapabilities.Features
        let keys: Keys
        let body: @Sendable (BackendTrial) async throws -> Void

        init(
            _ name: String, needs: RemoteCapabilities.Features = [], keys: Keys = .any,
            _ body: @escaping @Sendable (BackendTrial) async throws -> Void
        ) {
            self.name = name
            self.needs = needs
            self.keys = keys
            self.body = body
        }
    }

    /// Tries a back end.
    /// - Parameter laws: The laws to try.
    /// - Returns: The violations; empty if the back end does everything that it declares.
    public static func run(_ subject: some BackendSubject, laws: [Law] = Law.allCases) async -> [Failure] {
        var failures: [Failure] = []
        for law in laws where !subject.exceptions.contains(law) {
            for check in checks(of: law) {
                do {
                    let trial = try await BackendTrial(subject, isAboutKeys: law == .assignedKeys)
                    guard trial.allows(check) else { continue }
                    try await check.body(trial)
                } catch let error as BackendTrial.Unmet {
                    failures.append(Failure(law: law, check: check.name, message: error.message))
                } catch {
                    failures.append(Failure(law: law, check: check.name, message: "\(error)"))
                }
            }
        }
        return failures
    }

    /// The names of all checks of a law.
    public static func names(of law: Law) -> [String] { checks(of: law).map(\.name) }

    private static func checks(of law: Law) -> [Check] {
        switch law {
        case .pairing: pairing
        case .conditionalWrites: conditionalWrites
        case .idempotency: idempotency
        case .cursors: cursors
        case .paging: paging
        case .groups: groups
        case .identities: identities
        case .assignedKeys: assignedKeys
        case .values: values
        case .visibility: visibility
        case .claims: claims
        case .synchronization: synchronization
        }
    }
}
