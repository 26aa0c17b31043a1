import Foundation
import Logging

/// The settings of an ``AzureClient``: the application, its protocol, and how requests are made.
///
///     var configuration = try AzureConfiguration("https://notes.example", version: .datasync)
///     configuration.dialect.tokenHeader = .bearer
///     configuration.dialect.keepsDeletedRows = true
///     configuration.requestOptions.timeout = 20
///     let client = AzureClient(configuration)
///
/// Only the address is required: with an application key the protocol is Mobile Services, without one Mobile Apps. A client
/// copies the configuration when it is created; later changes have no effect. The session is kept in a file by default, under a
/// name made of ``applicationName`` and the host.
public struct AzureConfiguration: Sendable {
    /// The address, the version and what else is said in requests.
    public var dialect: AzureDialect
    /// The name of the app: sessions of different apps are kept apart by it.
    public var applicationName = ProcessInfo.processInfo.processName
    /// Where the session and the name of this installation are kept.
    public var sessionStorage: any SessionStorage = FileSessionStorage()
    /// What carries requests.
    public var transport: any HTTPTransport = URLSessionTransport()
    /// What time is measured by.
    public var clock: any RemoteClock = SystemClock()
    /// What sees each request and its answer, the first one first. The client libraries of Azure call these filters.
    public var middleware: [any HTTPMiddleware] = []
    /// Where requests and answers are logged. Nothing is, unless this is set.
    public var logger = Logger(label: "strata.azure") { _ in SwiftLogNoOpLogHandler() }
    /// What of them is logged.
    public var logPolicy = LogPolicy()
    /// How requests are made that say nothing else.
    public var requestOptions = RequestOptions()

    /// Names an application; everything else as usual.
    /// - Parameters:
    ///   - address: The address of the application, such as `https://notes.azurewebsites.net`.
    ///   - version: The protocol; nil for ``AzureVersion/mobileServices`` with an application key, and
    ///     ``AzureVersion/mobileApps`` without one.
    ///   - applicationKey: The key of an application of Mobile Services.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidParameter`` if the address is invalid.
    public init(
        _ address: String, version: AzureVersion? = nil, applicationKey: String? = nil
    ) throws(RemoteError) {
        dialect = try AzureDialect(address: address, version: version, applicationKey: applicationKey)
    }

    /// The name that the session is kept under.
    var sessionName: String { "\(applicationName).\(dialect.address.authority).azure" }

    /// The configuration with the name of this installation: the one that is kept, or a new one that is kept from now on.
    /// Where nothing can be kept, each launch has a name of its own.
    func withKeptInstallation() -> AzureConfiguration {
        var copy = self
        let name = "\(applicationName).WindowsAzureMobileServicesInstallationId"
        if let data = try? sessionStorage.session(named: name), let text = String(validating: data, as: UTF8.self),
            UUID(uuidString: text) != nil
        {
            copy.dialect.installationID = text
        } else {
            try? sessionStorage.keep(Data(dialect.installationID.utf8), named: name)
        }
        return copy
    }
}
