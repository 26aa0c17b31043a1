#if AsyncHTTP
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOFoundationCompat
    import NIOHTTP1
    import StrataRemote

    /// Requests by async-http-client, for programs that use SwiftNIO anyway, and for Linux, where `URLSession` costs
    /// more.
    ///
    /// It keeps to what ``URLSessionTransport`` does: a redirect is an answer, no cookies and nothing else is kept, answers
    /// may come compressed, and the path goes out as it stands, with what no URI may contain percent-encoded. Servers that
    /// speak HTTP/2 over TLS are spoken to in that.
    public final class AsyncHTTPTransport: HTTPTransport {
        private let client: HTTPClient
        private let maximumBody: Int
        private let takesCompressed: Bool

        /// How requests are made unless told otherwise: one attempt to connect, which may take ten seconds; connections
        /// that nobody uses are kept for thirty; compressed answers are taken.
        public static var standardConfiguration: HTTPClient.Configuration {
            // The body's limit holds for what comes out.
            var configuration = HTTPClient.Configuration(decompression: .enabled(limit: .none))
            // Servers usually hang up after a minute, and a request that meets the hanging up is lost.
            configuration.connectionPool.idleTimeout = .seconds(30)
            // Who synchronizes tries again by itself.
            configuration.connectionPool.retryConnectionEstablishment = false
            return configuration
        }

        /// Creates a transport with connections of its own. They are closed when it is released.
        /// - Parameters:
        ///   - configuration: How it connects: TLS, proxy and so on, best as a change of ``standardConfiguration``.
        ///     Redirects are never followed.
        ///   - eventLoops: What the connections run on.
        ///   - maximumBody: The most bytes of an answer's body. A longer answer is an error, and its rest is not read.
        public init(
            configuration: HTTPClient.Configuration = AsyncHTTPTransport.standardConfiguration,
            eventLoops: any EventLoopGroup = HTTPClient.defaultEventLoopGroup, maximumBody: Int = 256 << 20
        ) {
            var configuration = configuration
            configuration.redirectConfiguration = .disallow
            self.maximumBody = maximumBody
            takesCompressed = if case .enabled = configuration.decompression { true } else { false }
            client = HTTPClient(eventLoopGroup: eventLoops, configuration: configuration)
        }

        deinit {
            // Requests hold on to the transport, so that none is under way.
            client.shutdown { _ in }
        }

        /// Sends a request and waits for the whole answer.
        /// - Parameter timeout: How many seconds to wait, from now to the last byte.
        /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable``, ``RemoteError/Kind/timeout``,
        ///   ``RemoteError/Kind/cancelled``, ``RemoteError/Kind/invalidRequest`` if the address is invalid, or
        ///   ``RemoteError/Kind/invalidAnswer`` for an answer that is not HTTP or is too long.
        public func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            guard !Task.isCancelled else { throw TransportFailure.cancelled }
            let seconds = TransportFailure.seconds(timeout)
            let progress = FileProgress.current
            let clientRequest = try self.clientRequest(for: request, progress)
            do {
                return try await withThrowingTaskGroup(of: WireResponse.self) { group in
                    group.addTask { try await self.exchange(clientRequest, seconds: seconds, progress) }
                    group.addTask {
                        try await Task.sleep(for: .seconds(seconds))
                        throw TransportFailure.timeout(after: seconds)
                    }
                    // The one that is second ends immediately, and so does a request on its way.
                    defer { group.cancelAll() }
                    guard let answer = try await group.next() else { throw CancellationError() }
                    return answer
                }
            } catch {
                throw AsyncHTTPFailure.error(for: error, maximumBody: maximumBody)
            }
        }

        private func exchange(
            _ request: HTTPClientRequest, seconds: Double, _ progress: FileProgress?
        ) async throws -> WireResponse {
            // One second more than the deadline of the whole exchange, which decides.
            let response = try await client.execute(request, timeout: .nanoseconds(Int64((seconds + 1) * 1e9)))
            let body = try await body(of: response, progress)
            var fields = HTTPFields()
            for (name, value) in response.headers {
                guard let name = HTTPField.Name(name) else { continue }
                fields.append(HTTPField(name: name, value: value))
            }
            return WireResponse(
                HTTPResponse(status: .init(code: Int(response.status.code)), headerFields: fields),
                body: Data(buffer: body))
        }

        private func body(of response: HTTPClientResponse, _ progress: FileProgress?) async throws -> ByteBuffer {
            guard let progress else { return try await response.body.collect(upTo: maximumBody) }
            // Of a compressed body the length is not that of the bytes which come out.
            let length =
                response.headers.contains(name: "Content-Encoding")
                ? nil : response.headers.first(name: "Content-Length")
            let total = length.flatMap { Int($0) }
            var body = ByteBuffer()
            for try await var part in response.body {
                guard body.readableBytes + part.readableBytes <= maximumBody else {
                    throw NIOTooManyBytesError(maxBytes: maximumBody)
                }
                body.writeBuffer(&part)
                progress.report(TransferProgress(.download, completed: body.readableBytes, total: total))
            }
            return body
        }

        private func clientRequest(
            for request: WireRequest, _ progress: FileProgress?
        ) throws(RemoteError) -> HTTPClientRequest {
            var result = HTTPClientRequest(url: try request.address())
            result.method = HTTPMethod(rawValue: request.head.method.rawValue)
            for field in request.head.headerFields { result.headers.add(name: field.name.rawName, value: field.value) }
            if takesCompressed, !result.headers.contains(name: "Accept-Encoding") {
                result.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
            }
            if let body = request.body {
                if let progress {
                    result.body = .stream(
                        ReportedBody(data: body, progress: progress), length: .known(Int64(body.count)))
                } else {
                    result.body = .bytes(ByteBuffer(data: body))
                }
            }
            return result
        }
    }

    /// A body in parts, each of which is told when it is asked for: the ones before it are on their way then.
    private struct ReportedBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        let data: Data
        let progress: FileProgress

        struct AsyncIterator: AsyncIteratorProtocol {
            let data: Data
            let progress: FileProgress
            var sent = 0

            mutating func next() async throws -> ByteBuffer? {
                if sent > 0 || data.isEmpty {
                    progress.report(TransferProgress(.upload, completed: sent, total: data.count))
                }
                guard sent < data.count else { return nil }
                let end = Swift.min(sent + 65_536, data.count)
                defer { sent = end }
                return ByteBuffer(data: data[(data.startIndex + sent)..<(data.startIndex + end)])
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(data: data, progress: progress) }
    }
#endif
