#if Server
    import Foundation

    extension AccessRules {
        /// Who may do something.
        public indirect enum Level: Sendable, Hashable {
            /// Everybody.
            case anyone
            /// Any user who is logged in.
            case loggedIn
            /// The account that made the object; an account itself belongs to its user. Queries find own objects only.
            case owner
            /// The accounts that a field of the object names, such as `collaborators`. A field after `sm_owner.` is one
            /// of the account that made the object: `sm_owner.friends` means the friends of the owner.
            case relationship(String)
            /// The accounts that have a role.
            case role(String)
            /// Requests that are signed with the private key of the application, which may do everything everywhere.
            case privateKey
            /// Nobody but holders of the private key.
            case nobody
            /// A client that meets one of several levels.
            case any([Level])

            /// Reads a level: `anyone`, `loggedIn`, `owner`, `relationship:<field>`, `role:<name>`, `privateKey`,
            /// `nobody`, or several of them joined by `|`.
            /// - Returns: nil for any other text.
            public init?(_ text: String) {
                let parts = text.split(separator: "|", omittingEmptySubsequences: false)
                    .map { $0.trimmingCharacters(in: .whitespaces) }
                guard parts.count == 1 else {
                    let levels = parts.compactMap(Level.init)
                    guard levels.count == parts.count else { return nil }
                    self = .any(levels)
                    return
                }
                switch parts[0] {
                case "anyone": self = .anyone
                case "loggedIn": self = .loggedIn
                case "owner": self = .owner
                case "privateKey": self = .privateKey
                case "nobody": self = .nobody
                default:
                    let halves = parts[0].split(separator: ":", maxSplits: 1).map(String.init)
                    guard halves.count == 2, !halves[1].isEmpty else { return nil }
                    switch halves[0] {
                    case "relationship":
                        let field = halves[1].hasPrefix("sm_owner.") ? String(halves[1].dropFirst(9)) : halves[1]
                        guard ServerSchema.fault(ofName: field) == nil else { return nil }
                        self = .relationship(halves[1])
                    case "role": self = .role(halves[1])
                    default: return nil
                    }
                }
            }

            /// The spellings that ``init(_:)`` reads, for messages.
            static let spellings =
                "anyone, loggedIn, owner, relationship:<field>, role:<name>, privateKey, nobody, or several joined by |"

            /// Whether some requests may that are not signed.
            var isOpen: Bool {
                switch self {
                case .anyone: true
                case .any(let levels): levels.contains(where: \.isOpen)
                default: false
                }
            }

            /// Whether the roles of an account count.
            var needsRoles: Bool {
                switch self {
                case .role: true
                case .any(let levels): levels.contains(where: \.needsRoles)
                default: false
                }
            }
        }
    }

    extension AccessRules.Level: CustomStringConvertible {
        /// The spelling that ``init(_:)`` reads.
        public var description: String {
            switch self {
            case .anyone: "anyone"
            case .loggedIn: "loggedIn"
            case .owner: "owner"
            case .relationship(let field): "relationship:\(field)"
            case .role(let name): "role:\(name)"
            case .privateKey: "privateKey"
            case .nobody: "nobody"
            case .any(let levels): levels.map(\.description).joined(separator: " | ")
            }
        }

        /// Who that is, in words.
        var explanation: String {
            switch self {
            case .anyone: "everybody, without logging in"
            case .loggedIn: "every account that is logged in"
            case .owner: "the account that made the object"
            case .relationship(let field) where field.hasPrefix("sm_owner."):
                "the accounts in the field \(field.dropFirst(9)) of the owner"
            case .relationship(let field): "the accounts in the field \(field) of the object"
            case .role(let name): "accounts with the role \(name)"
            case .privateKey, .nobody: "nobody without the private key"
            case .any(let levels): levels.map(\.explanation).joined(separator: "; ")
            }
        }
    }
#endif
