import Foundation
import Logging

/// The settings of a ``StackMobClient``: the application, its server, and how requests are made.
///
///     var configuration = try StackMobConfiguration(publicKey: key, apiVersion: "0")
///     configuration.dialect.host = "localhost:8080"
///     configuration.dialect.securesCredentials = false  // passwords by HTTP: only for this machine
///     configuration.requestOptions.timeout = 20
///     let client = StackMobClient(configuration)
///
/// A client copies it when it is created; later changes have no effect. Only the public key is required. The session is kept in
/// a file by default, under a name made of ``applicationName`` and the public key: two apps with the same names share it.
/// Requests to other machines go by HTTPS.
public struct StackMobConfiguration: Sendable {
    /// Hosts, keys, versions and the names of the schema of users.
    public var dialect: StackMobDialect
    /// The private key of the application, which push requests are signed with; nil if there are none.
    public var privateKey: String?
    /// The name of the app: sessions of different apps are kept apart by it.
    public var applicationName = ProcessInfo.processInfo.processName
    /// Where the session is kept.
    public var sessionStorage: any SessionStorage = FileSessionStorage()
    /// What carries requests.
    public var transport: any HTTPTransport = URLSessionTransport()
    /// What sees requests and answers, the first one first. Log-ins and push requests pass none.
    public var middleware: [any HTTPMiddleware] = []
    /// What time is measured by.
    public var clock: any RemoteClock = SystemClock()
    /// Gives texts that signatures are told apart by, each one once.
    public var nonce: @Sendable () -> String = { UUID().uuidString }
    /// Where requests and answers are logged. Nothing is, unless this is set.
    public var logger = Logger(label: "strata.stackmob") { _ in SwiftLogNoOpLogHandler() }
    /// What of them is logged.
    public var logPolicy = LogPolicy()
    /// How requests are made that say nothing else.
    public var requestOptions = RequestOptions()

    /// Names an application; everything else as usual.
    /// - Parameters:
    ///   - publicKey: 36 characters.
    ///   - apiVersion: `0` while developing, `1` and up in production.
    /// - Throws: ``RemoteError`` of domain ``StackMobError/Exception/clientInitialization`` if the key has another
    ///   length or the version is not a whole number.
    public init(publicKey: String, apiVersion: String = "0", privateKey: String? = nil) throws(RemoteError) {
        dialect = try StackMobDialect(publicKey: publicKey, apiVersion: apiVersion)
        dialect.securesRemoteHosts = true
        self.privateKey = privateKey
    }

    /// The name that the session is kept under.
    package var sessionName: String { "\(applicationName).\(dialect.publicKey).oauth" }
}
