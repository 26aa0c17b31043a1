import Foundation
import Logging

/// The settings of a ``MaxLeapClient``: the application, its server, and how requests are made.
///
///     var configuration = MaxLeapConfiguration(try MaxLeapDialect(applicationID: id, apiKey: key))
///     configuration.cache = MaxLeapQueryCache(folder: URL(filePath: "/var/lib/posts/cache"))
///     configuration.requestOptions.timeout = 20
///     configuration.maximumAttempts = 2
///     let client = MaxLeapClient(configuration)
///
/// Only the dialect is required. A client copies the configuration when it is created; later changes have no effect. The
/// session is kept in a file by default, under a name made of ``applicationName`` and the application's ID. Reads are repeated
/// if the server cannot be reached; writes are sent once.
public struct MaxLeapConfiguration: Sendable {
    /// Dialect, address and keys.
    public var dialect: MaxLeapDialect
    /// The name of the app: sessions of different apps are kept apart by it.
    public var applicationName = ProcessInfo.processInfo.processName
    /// Where the session is kept.
    public var sessionStorage: any SessionStorage = FileSessionStorage()
    /// Where answers to queries are kept.
    public var cache = MaxLeapQueryCache()
    /// What carries requests.
    public var transport: any HTTPTransport = URLSessionTransport()
    /// What sees requests and answers, the first one first.
    public var middleware: [any HTTPMiddleware] = []
    /// What time is measured by.
    public var clock: any RemoteClock = SystemClock()
    /// Where requests and answers are logged. Nothing is, unless this is set.
    public var logger = Logger(label: "strata.maxleap") { _ in SwiftLogNoOpLogHandler() }
    /// What of them is logged.
    public var logPolicy = LogPolicy()
    /// How requests are made that say nothing else.
    public var requestOptions = RequestOptions()
    /// How often a request that reads is sent, if the server cannot be reached or answers with a status from 500 on. Between
    /// two attempts the client waits, one to two seconds first, and each time twice as long.
    public var maximumAttempts = 5
    /// Where between one and two seconds the first of these waits is: 0 to 1.
    public var jitter: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Talks in a dialect; everything else as usual.
    public init(_ dialect: MaxLeapDialect) { self.dialect = dialect }

    /// The name that the session is kept under.
    package var sessionName: String { "\(applicationName).\(dialect.applicationID).maxleap" }
}
