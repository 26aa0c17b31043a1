#if Server
    import Foundation

    /// A request together with who sent it.
    struct Call: DialectCall {
        var request: ServerRequest
        /// The parts of the path without escapes, and without what older paths have in front.
        var segments: [String]
        var caller: Caller
        /// The API version.
        var version: Int
        /// Whether it came within a batch.
        var isNested = false

        var principal: Principal { caller.principal }
        var database: Database { caller.database }
        /// Whether the request may make schemas and fields.
        var isDevelopment: Bool { caller.isDevelopment }

        /// The body as JSON.
        func json(_ options: ServerOptions) throws(ServerError) -> JSONValue {
            do {
                return try JSONValue(
                    parsing: request.body,
                    maximumDepth: min(options.limits.requests.jsonDepth, ServerLimits.largestJSONDepth))
            } catch {
                throw .badRequest("The body is \(error).")
            }
        }
    }

    extension ServerRequest {
        /// The API version that the request names: 0 for development; nil if it names none.
        var version: Int? {
            get throws(ServerError) {
                guard let accept = header("Accept"), accept.contains("vnd.stackmob+json") else { return nil }
                for part in accept.split(separator: ";").dropFirst() {
                    let halves = part.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
                    guard halves.first == "version" else { continue }
                    guard halves.count == 2, let version = Int(halves[1].prefix { $0.isNumber }), version >= 0 else {
                        throw .badRequest("Accept names no version: \(accept.prefix(100)).")
                    }
                    return version
                }
                return nil
            }
        }
    }

    /// The methods that clients cannot send and name in a header.
    enum MethodOverride {
        /// The request with the method that it means.
        /// - Throws: ``ServerError`` 400 for a method that cannot be meant, 403 for a signed request over plain HTTP: no
        ///   signature covers the header, so that somebody on the way could turn reading into deleting.
        static func apply(to original: ServerRequest) throws(ServerError) -> ServerRequest {
            var request = original
            if let method = request.header("X-HTTP-Method-Override")?.uppercased(), method != request.method {
                let isKnown =
                    (request.method == "GET" && ["DELETE", "HEAD"].contains(method))
                    || (request.method == "POST" && method == "PUT")
                guard isKnown else {
                    throw .badRequest("X-HTTP-Method-Override: \(request.method) cannot be \(method).")
                }
                guard request.isSecure || method == "HEAD" || request.header("Authorization") == nil else {
                    throw .forbidden("X-HTTP-Method-Override of signed requests is only taken over TLS.")
                }
                request.method = method
            }
            guard ["GET", "HEAD", "POST", "PUT", "DELETE"].contains(request.method) else {
                throw .notAllowed(
                    "The method \(request.method.prefix(20)) is not answered.", "GET, HEAD, POST, PUT, DELETE")
            }
            return request
        }
    }

    /// The paths of older clients: `/api/<version>/<application>/<schema>…` and `/push/<version>/<application>/…`.
    struct OlderPath {
        /// The version in the path.
        private(set) var version: Int?
        /// Whether it is one of push.
        private(set) var isPush = false

        /// Removes the prefix from the parts of a path.
        init(_ segments: inout [String]) throws(ServerError) {
            guard segments.count >= 4, ["api", "push"].contains(segments[0]), let version = Int(segments[1]),
                version >= 0
            else { return }
            self.version = version
            isPush = segments[0] == "push"
            segments.removeFirst(3)
        }
    }
#endif
