#if Server
    import Foundation
    import HTTPTypes
    import NIOHTTP1

    /// The head of an answer as it goes out.
    struct AnswerHead {
        /// Headers that the connection writes itself.
        private static let own = ["Content-Length", "Transfer-Encoding", "Connection", "Date", "Server"]

        let head: HTTPResponseHead

        /// - Parameters:
        ///   - request: The request; nil for an answer to garbage.
        ///   - connection: What is said about the connection.
        init(_ response: ServerResponse, to request: ServerRequest?, date: String, connection: String?) {
            var headers = HTTPHeaders()
            headers.reserveCapacity(response.headers.count + 5)
            for (name, value) in response.headers where Self.isValid(name, value) {
                headers.add(name: name, value: value)
            }
            headers.add(name: "Content-Length", value: String(response.body.count))
            if let connection { headers.add(name: "Connection", value: connection) }
            headers.add(name: "Date", value: date)
            headers.add(name: "Server", value: "strata-server")
            if Self.isCompressible(response, to: request) { headers.add(name: ResponseCompression.mark, value: "1") }
            head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        }

        /// Custom code may name any headers. Those that would break the answer are left out.
        private static func isValid(_ name: String, _ value: String) -> Bool {
            HTTPField.Name(name) != nil && HTTPField.isValidValue(value)
                && !own.contains { HeaderName.areEqual($0, name) }
        }

        private static func isCompressible(_ response: ServerResponse, to request: ServerRequest?) -> Bool {
            guard response.body.count >= ResponseCompression.minimumSize, let request, request.method != "HEAD",
                let type = response.header("Content-Type"), type.hasPrefix("text/") || type.contains("json")
            else { return false }
            // Tokens are not compressed: the length of what is compressed with a guess would tell whether it is right.
            return response.header("Cache-Control") != "no-store"
                && !["/accessToken", "/refreshToken"].contains { request.target.hasSuffix($0) }
        }
    }
#endif
