import Foundation

/// The failure of a request of an ``AzureClient``: the error with the request and the answer.
///
///     let notes = client.table("Note")
///     do throws(AzureFailure) {
///         note = try await notes.update(note)
///     } catch {
///         guard error.code == .preconditionFailed else { throw error }
///         print("the server has", error.serverItem ?? [:])
///     }
///
/// ``code`` is the one of the old libraries, and `error.kind` says what the failure means for all services. ``serverItem``
/// comes with a conflict, ``pushResult`` with a push. The request is without the user's token, so that you can log it; nothing
/// was sent if it is nil.
public struct AzureFailure: Error, Sendable, Hashable {
    /// What happened.
    public var error: RemoteError
    /// The request, without the user's token; nil if nothing was sent.
    public var request: WireRequest?
    /// The answer; nil if none came.
    public var response: WireResponse?
    /// The server's state of the item, if it came with a conflict.
    public var serverItem: JSONObject?
    /// The operations of a push that the server refused.
    public var pushResult: [AzureOperationFailure] = []

    /// Describes a failure.
    public init(
        _ error: RemoteError, request: WireRequest? = nil, response: WireResponse? = nil, serverItem: JSONObject? = nil,
        pushResult: [AzureOperationFailure] = []
    ) {
        self.error = error
        self.request = request
        self.response = response
        self.serverItem = serverItem
        self.pushResult = pushResult
    }

    /// The code of the client libraries; nil for an error of somebody else, such as the transport.
    public var code: AzureError? {
        AzureVersion.allCases.contains { $0.errorDomain == error.domain } ? AzureError(rawValue: error.code) : nil
    }

    /// What happened and what to do.
    public var message: String { error.message }
    /// The status of the answer.
    public var status: Int? { response?.status ?? error.status }
}

extension AzureFailure: CustomStringConvertible {
    /// What happened, with the code, and what was asked for.
    public var description: String {
        let asked = request.map { " to \($0.head.method.rawValue) \(($0.head.path ?? "/").prefix { $0 != "?" })" } ?? ""
        return "\(error)\(asked)"
    }
}

extension AzureClient {
    /// Builds a request, sends it, and reads the answer; what goes wrong is told with both.
    func exchange<Result>(
        _ options: RequestOptions?, _ build: (RequestOptions) throws(RemoteError) -> WireRequest,
        _ read: (WireResponse) throws(RemoteError) -> Result
    ) async throws(AzureFailure) -> Result {
        let options = options ?? configuration.requestOptions
        var request: WireRequest?
        var response: WireResponse?
        do throws(RemoteError) {
            let built = try build(options)
            request = built
            let answer = try await sender.send(built, options: options)
            response = answer
            if let failure = configuration.dialect.failure(answer) { throw failure }
            return try read(answer)
        } catch {
            throw AzureFailure(
                error, request: request, response: response,
                serverItem: response.flatMap { configuration.dialect.conflictItem($0) })
        }
    }
}
