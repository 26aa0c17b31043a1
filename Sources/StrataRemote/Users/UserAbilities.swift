/// What a service has for its users, as a set of options.
///
///     if users.abilities.contains(.anonymousUsers) {
///         try await users.automaticUser()
///     }
///
/// Ask ``RemoteUsers/abilities`` before you show a log-in screen, or if your code runs with several services. A method that the
/// service lacks throws ``RemoteError`` of the kind ``RemoteError/Kind/unsupported``, and nothing is sent. ``description``
/// names the abilities in words.
public struct UserAbilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits.
    public let rawValue: Int
    /// Makes abilities of bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// New users by name and password.
    public static let signUp = UserAbilities(rawValue: 1 << 0)
    /// Log-in by name and password.
    public static let passwords = UserAbilities(rawValue: 1 << 1)
    /// Log-in by an account at another service.
    public static let providers = UserAbilities(rawValue: 1 << 2)
    /// Users without a name.
    public static let anonymousUsers = UserAbilities(rawValue: 1 << 3)
    /// Reading the user again, or renewing the session.
    public static let refreshing = UserAbilities(rawValue: 1 << 4)
    /// Another password in place of the one there is.
    public static let changingPasswords = UserAbilities(rawValue: 1 << 5)
    /// A new password by mail.
    public static let resettingPasswords = UserAbilities(rawValue: 1 << 6)
    /// Further accounts at other services for one user.
    public static let linking = UserAbilities(rawValue: 1 << 7)

    private static let names = [
        "sign-up", "log-in by password", "log-in by another service", "anonymous users", "reading the user again",
        "changing passwords", "resetting passwords", "linking accounts of other services",
    ]

    /// The names, as messages have them.
    public var description: String {
        Self.names.enumerated().filter { rawValue & 1 << $0.offset != 0 }.map(\.element).joined(separator: ", ")
    }
}
