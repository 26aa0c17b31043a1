#if Server
    import Foundation

    /// Lets scripts of other origins use the server, if the configuration names them (the CORS protocol of the Fetch
    /// standard).
    enum CrossOrigin {
        /// Whether a text is an origin, or `*` for any.
        static func isOrigin(_ text: String) -> Bool {
            if text == "*" { return true }
            guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme) else { return false }
            return url.host?.isEmpty == false && url.path.isEmpty && url.query == nil && url.user == nil
        }

        private static func origin(_ request: ServerRequest, _ origins: [String]) -> String? {
            guard let origin = request.header("Origin") else { return nil }
            return origins.contains("*") || origins.contains(origin) ? origin : nil
        }

        /// Whether a request may begin a web socket. Browsers let pages of any origin open one, and only say which it was.
        static func admitsSocket(_ request: ServerRequest, _ origins: [String]) -> Bool {
            guard let text = request.header("Origin") else { return true }
            if origin(request, origins) != nil { return true }
            // Pages of this server may use it, as with requests. Clients that are not browsers name the server itself.
            guard let origin = URLComponents(string: text), let scheme = origin.scheme?.lowercased(),
                let host = request.header("Host").flatMap({ HostAndPort($0) })
            else { return false }
            let usual = ["http": 80, "ws": 80, "https": 443, "wss": 443]
            let port = host.port.map(Int.init) ?? usual[request.scheme]
            return origin.host?.lowercased() == host.host.lowercased() && (origin.port ?? usual[scheme]) == port
        }

        /// The answer to a browser that asks whether it may send a request; nil for any other request. It needs neither a
        /// key nor a signature, which the browser does not send here.
        static func preflight(
            _ request: ServerRequest, _ origins: [String], methods: [String]
        ) -> ServerResponse? {
            guard request.method == "OPTIONS", origin(request, origins) != nil,
                request.header("Access-Control-Request-Method") != nil
            else { return nil }
            var headers = [("Access-Control-Allow-Methods", methods.joined(separator: ", "))]
            // One name has the public key in it, so that no list could be complete.
            if let names = request.header("Access-Control-Request-Headers") {
                headers.append(("Access-Control-Allow-Headers", names))
            }
            headers.append(("Access-Control-Max-Age", "600"))
            return ServerResponse(status: 204, headers: headers.map { (name: $0.0, value: $0.1) })
        }

        /// Adds to an answer who may read it.
        static func allow(
            _ request: ServerRequest, _ origins: [String], exposing names: [String],
            on response: inout ServerResponse
        ) {
            guard !origins.isEmpty else { return }
            response.headers.append(("Vary", "Origin"))
            guard let origin = origin(request, origins) else { return }
            response.headers.append(("Access-Control-Allow-Origin", origin))
            guard !names.isEmpty else { return }
            response.headers.append(("Access-Control-Expose-Headers", names.joined(separator: ", ")))
        }
    }
#endif
