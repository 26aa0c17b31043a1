import Foundation
import StrataStore
import Synchronization

/// An HTTP service as a back end: its wire format, what carries its requests, and what signs them.
///
///     let backend = HTTPBackend(dialect: dialect, transport: URLSessionTransport())
///     let store = try RemoteStore.open(model: model, backend: backend, location: .file(path: "cities.sqlite"))
///
/// Each request is built by the dialect, passes the middleware, and is signed again for each attempt, even where the server
/// redirects it within its host. An answer that ends the session is shown to the authorizer once; one that asks to wait is
/// waited for and the request sent again, as often as ``RequestOptions/retries`` allows. The dialect says which answers these
/// are, see ``RemoteDialect/reaction(to:)``. The dialect reads all other answers.
public final class HTTPBackend: RemoteBackend {
    /// The wire format.
    public let dialect: any RemoteDialect
    /// What carries requests.
    public let transport: any HTTPTransport
    /// What signs requests; nil for a service that knows no users.
    public let authorizer: (any RequestAuthorizer)?
    /// What sees requests and answers, the first one first.
    public let middleware: [any HTTPMiddleware]
    /// What time is measured by.
    package let clock: any RemoteClock
    /// The bits of ``clockOffset``.
    private let offset = Atomic<UInt64>(0)

    /// Puts a back end together. Nothing is sent.
    public init(
        dialect: any RemoteDialect, transport: any HTTPTransport, authorizer: (any RequestAuthorizer)? = nil,
        middleware: [any HTTPMiddleware] = [], clock: any RemoteClock = SystemClock()
    ) {
        self.dialect = dialect
        self.transport = transport
        self.authorizer = authorizer
        self.middleware = middleware
        self.clock = clock
    }

    /// The dialect's name.
    public var name: String { dialect.name }
    /// What the dialect can do.
    public var capabilities: RemoteCapabilities { dialect.capabilities }
    /// How far the server's clock is ahead of this machine's, in seconds, by the last answer that told the time.
    public var clockOffset: Double { Double(bitPattern: offset.load(ordering: .relaxed)) }

    /// As the dialect.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? { dialect.code(of: finding) }

    /// As the dialect.
    /// - Throws: As ``RemoteDialect/check(_:)``.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) { try dialect.check(model) }

    /// As the dialect.
    public func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        dialect.lists(relationship, of: entity)
    }

    /// Builds the requests of an operation without sending them.
    /// - Throws: ``RemoteError`` if the dialect cannot build one of them.
    public func check(_ operation: RemoteOperation) throws(RemoteError) {
        _ = try dialect.requests(for: operation)
    }

    /// Sends the requests of an operation one after the other, and joins the answers.
    ///
    /// If an operation writes several objects in several requests, each object has its own outcome, even if a request
    /// fails as a whole. A change of members that takes several requests has one outcome, which is a failure if one of
    /// them fails. After a failure that would also affect the next request – no connection, no session, a server that
    /// asks to wait – the rest is not sent and has the same error.
    /// - Throws: ``RemoteError`` if the operation cannot be sent as requests, or a read fails.
    public func perform(
        _ operation: RemoteOperation, options: RequestOptions
    ) async throws(RemoteError) -> RemoteAnswer {
        let steps = try dialect.steps(of: operation)
        guard steps.count != 1 else { return try await answer(to: steps[0], options) }
        if case .batch(let parts) = operation, !steps.contains(where: \.isBatch) {
            return try await oneByOne(parts, options)
        }
        var answers = JoinedAnswers()
        var end: RemoteError?
        for step in steps {
            if let end, let count = step.writeCount {
                answers.add(.outcomes(Array(repeating: .failed(end), count: count)))
                continue
            }
            do throws(RemoteError) {
                answers.add(try await answer(to: step, options))
            } catch {
                guard let count = step.writeCount else { throw error }
                answers.add(.outcomes(Array(repeating: .failed(error), count: count)))
                if error.concernsAll { end = error }
            }
        }
        if case .relate = operation { return answers.ofOneWrite }
        return answers.joined
    }

    /// Sends the operations of a batch that the dialect sends one by one: each has its outcomes, however many requests it
    /// takes.
    private func oneByOne(
        _ parts: [RemoteOperation], _ options: RequestOptions
    ) async throws(RemoteError) -> RemoteAnswer {
        var outcomes: [RemoteOutcome] = []
        var end: RemoteError?
        for part in parts {
            let count = part.writeCount ?? 0
            if let end {
                outcomes += Array(repeating: .failed(end), count: count)
                continue
            }
            do throws(RemoteError) {
                guard case .outcomes(let own) = try await perform(part, options: options) else { continue }
                outcomes += own
                for case .failed(let error) in own where error.concernsAll { end = error }
            } catch {
                outcomes += Array(repeating: .failed(error), count: count)
                if error.concernsAll { end = error }
            }
        }
        return .outcomes(outcomes)
    }

    private func answer(
        to operation: RemoteOperation, _ options: RequestOptions
    ) async throws(RemoteError) -> RemoteAnswer {
        let mayBeDone = Guarded(false)
        let response = try await exchanges(for: operation, options, mayBeDone)
        let isRepeated = mayBeDone.withLock { $0 } && operation.writeCount != nil
        do throws(RemoteError) {
            let answer = try dialect.answer(response, to: operation)
            guard isRepeated, case .outcomes(let outcomes) = answer else { return answer }
            return .outcomes(outcomes.map(ofRepetition))
        } catch {
            var error = isRepeated ? ofRepetition(error) : error
            if error.retryAfter == nil {
                error.retryAfter = wait(asked: response) ?? retryAfter(response)
            }
            throw error
        }
    }

    private func ofRepetition(_ outcome: RemoteOutcome) -> RemoteOutcome {
        guard case .failed(let error) = outcome else { return outcome }
        return .failed(ofRepetition(error))
    }

    /// A refusal of a request that was sent again after a server error. The server may have carried out the request at the first
    /// time, and be in conflict with that: unless it recognizes repeated requests, the outcome is not known.
    private func ofRepetition(_ error: RemoteError) -> RemoteError {
        guard error.kind == .duplicate || error.kind == .conflict,
            !capabilities.features.contains(.idempotencyTokens)
        else { return error }
        var result = error
        result.kind = .unavailable
        result.serverRecord = nil
        result.message = "the request was sent again after a server error, and refused: \(error.message)"
        return result
    }

    /// The maximum number of requests of one operation, where one depends on the answer to the one before.
    public static let maximumExchanges = 8

    /// Sends the requests of an operation of which each depends on the answers before.
    /// - Parameter mayBeDone: Becomes true if one of them was sent again although the server may have carried it out.
    /// - Returns: The response that answers the operation.
    private func exchanges(
        for operation: RemoteOperation, _ options: RequestOptions, _ mayBeDone: Guarded<Bool>
    ) async throws(RemoteError) -> WireResponse {
        var exchanges: [DialectExchange] = []
        var request = try dialect.request(for: operation, options: options)
        while exchanges.count < Self.maximumExchanges {
            let response = try await send(request, options, mayBeDone)
            exchanges.append(DialectExchange(request: request, response: response))
            switch try dialect.continuation(of: operation, after: exchanges, options: options) {
            case .answer(let response): return response
            case .send(let next): request = next
            }
        }
        throw RemoteError(
            .invalidAnswer, domain: "Strata",
            message: "\(name): an operation has taken \(Self.maximumExchanges) requests, and needs another one")
    }

    /// Sends a request beyond the dialect's operations in the same way: with the headers of the options, through the
    /// middleware, signed again for each attempt, and again where the server asks to wait.
    /// - Returns: The last answer, of any status.
    /// - Throws: ``RemoteError`` of the transport, the authorizer or the middleware, or of kind
    ///   ``RemoteError/Kind/invalidRequest`` if a header has an invalid name.
    public func send(
        _ request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> WireResponse {
        try await send(request, options, Guarded(false))
    }

    private func send(
        _ request: WireRequest, _ options: RequestOptions, _ mayBeDone: Guarded<Bool>
    ) async throws(RemoteError) -> WireResponse {
        var request = request
        for (name, value) in options.headers {
            guard let field = HTTPField.Name(name) else {
                throw RemoteError(
                    .invalidRequest, domain: "Strata",
                    message: "\(name.debugDescription) is not a valid HTTP header name")
            }
            request.head.headerFields[field] = value
        }
        request.add(options.parameters)
        guard !middleware.isEmpty else { return try await exchange(request, options, mayBeDone) }
        let network = HTTPNext(dialect: dialect, options: options) { (request) async throws(RemoteError) in
            try await self.exchange(request, options, mayBeDone)
        }
        return try await middleware.reversed().reduce(network) { $0.behind($1) }(request)
    }

    /// Sends a request until there is an answer that asks for nothing.
    private func exchange(
        _ request: WireRequest, _ options: RequestOptions, _ mayBeDone: Guarded<Bool>
    ) async throws(RemoteError) -> WireResponse {
        var request = request
        var retries = options.retries
        var redirects = 5
        var mayRecover = options.renewsSession
        while true {
            let signed = try await authorizer?.authorize(request, options: options) ?? request
            let sent = clock.now
            let response = try await transport.send(signed, timeout: options.timeout)
            note(response, sent: sent)
            let reaction = dialect.reaction(to: response)
            if reaction == .sessionEnded, mayRecover, let authorizer {
                mayRecover = false
                if try await authorizer.recover(from: response, to: signed, options: options) { continue }
            }
            // A signature covers the address, so that only the one who signs can follow.
            if redirects > 0, let next = request.redirected(by: response) {
                redirects -= 1
                request = next
                continue
            }
            guard retries > 0, let seconds = wait(asked: response), seconds <= options.maximumWait else {
                return response
            }
            retries -= 1
            if response.status >= 500 { mayBeDone.withLock { $0 = true } }
            try await clock.sleep(seconds: seconds)
        }
    }

    /// Compares the clocks: the server looked at its own between the two moments, most likely in the middle.
    private func note(_ response: WireResponse, sent: Date) {
        guard let time = dialect.time(of: response) else { return }
        let here = sent.addingTimeInterval(clock.now.timeIntervalSince(sent) / 2)
        offset.store(time.timeIntervalSince(here).bitPattern, ordering: .relaxed)
    }

    /// How many seconds an answer asks to wait before the request is sent again; nil if it does not ask.
    package func wait(asked response: WireResponse) -> Double? {
        guard case .wait(let told)? = dialect.reaction(to: response) else { return nil }
        return told ?? retryAfter(response)
    }

    /// The seconds that `Retry-After` asks to wait: a number, or a date by the server's clock (RFC 9110, 10.2.3).
    private func retryAfter(_ response: WireResponse) -> Double? {
        guard let text = response.head.headerFields[.retryAfter]?.trimmingCharacters(in: .whitespaces) else {
            return nil
        }
        if let seconds = Double(text) { return seconds.isFinite ? max(0, seconds) : nil }
        guard let date = HTTPDate.date(text) else { return nil }
        return max(0, date.timeIntervalSince(clock.now) - clockOffset)
    }
}

/// Answers to the steps of one operation, one after another.
private struct JoinedAnswers {
    private(set) var joined = RemoteAnswer.nothing

    mutating func add(_ answer: RemoteAnswer) {
        switch (joined, answer) {
        case (.page(var page), .page(let more)):
            page.records += more.records
            page.deleted += more.deleted
            page.unreadable += more.unreadable
            page.total = nil
            page.next = more.next ?? page.next
            page.hasMore = page.hasMore || more.hasMore
            joined = .page(page)
        case (.count(let count), .count(let more)): joined = .count(count + more)
        case (.outcomes(let outcomes), .outcomes(let more)): joined = .outcomes(outcomes + more)
        default: joined = answer
        }
    }

    /// The outcomes of the steps of one write as one: the first failure, or what the last step told.
    var ofOneWrite: RemoteAnswer {
        guard case .outcomes(let outcomes) = joined else { return joined }
        var last: RemoteRecord?
        for outcome in outcomes {
            switch outcome {
            case .failed: return .outcomes([outcome])
            case .done(let record): last = record
            }
        }
        return .outcomes([.done(last)])
    }
}

extension RemoteOperation {
    fileprivate var isBatch: Bool { if case .batch = self { true } else { false } }

    /// How many outcomes the operation has; nil if it does not write objects.
    var writeCount: Int? {
        switch self {
        case .create(_, let writes): writes.count
        case .update, .delete, .relate: 1
        case .batch(let operations): operations.reduce(0) { $0 + ($1.writeCount ?? 0) }
        case .query, .count, .read, .pull, .upload, .call, .ping: nil
        }
    }
}

extension RemoteError {
    /// Whether the error is about the network, the session or the whole server, not about the objects of the request: the
    /// next request would meet the same.
    package var concernsAll: Bool {
        switch kind {
        case .unreachable, .timeout, .throttled, .unavailable, .cancelled, .unauthorized, .invalidAnswer: true
        case .forbidden, .notFound, .gone, .conflict, .duplicate, .rejected, .invalidRequest, .missingSecret,
            .unsupported,
            .cursorExpired:
            false
        }
    }
}
