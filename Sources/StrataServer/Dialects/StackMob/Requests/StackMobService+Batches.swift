#if Server
    import Foundation
    import Strata

    extension StackMobService {
        /// `POST /_batch`: several independent requests in order, with the answers in the same order. The signature of
        /// the batch counts for all of them.
        func batch(_ call: Call) async throws(ServerError) -> ServerResponse {
            guard call.request.method == "POST" else { throw .notAllowed("A batch is posted.", "POST") }
            guard !call.isNested else { throw .badRequest("A batch cannot hold a batch.") }
            let body = try call.json(options)
            guard let requests = body["requests"]?.elements else {
                throw .badRequest("A batch takes {\"requests\":[{\"method\",\"path\",\"headers\",\"body\"}]}.")
            }
            guard requests.count <= options.limits.requests.objects else {
                throw .badRequest("A batch may hold \(options.limits.requests.objects) requests; send several.")
            }
            let answers = try await answers(to: requests, in: call)
            return ServerResponse(
                json: .array(
                    answers.map { ["status": .integer(Int64($0.status)), "body": $0.json ?? .null] }))
        }

        /// What a request of a batch writes; nil for all that is answered in its own way.
        func objectWrite(_ call: Call) async throws(ServerError) -> ObjectWrite? {
            let name = call.segments.first ?? ""
            let isSpecial =
                (call.segments.count == 1 && server.methods[name] != nil)
                || (call.segments.count == 2 && AccountEndpoint(rawValue: call.segments[1]) != nil
                    && options.accounts(name.lowercased()) != nil)
            guard !isSpecial, ServerSchema.fault(ofName: name.lowercased()) == nil else { return nil }
            return try await write(call, schema: name.lowercased())
        }

        func nested(_ value: JSONValue, _ index: Int, in call: Call) throws(ServerError) -> Call {
            guard let method = value["method"]?.string, let path = value["path"]?.string else {
                throw .badRequest("Request \(index) of the batch lacks method or path.")
            }
            var headers = call.request.headers.filter { ["accept", "host"].contains($0.name.lowercased()) }
            for (name, header) in value["headers"]?.members ?? [:] {
                guard let text = header.string else {
                    throw .badRequest("Header \(name) of request \(index) is not text.")
                }
                headers.insert((name, text), at: 0)
            }
            let text: String? = if let body = value["body"], !body.isNull { try body.stored() } else { nil }
            let body = Data((text ?? "").utf8)
            let request = ServerRequest(
                method, path, headers: headers, body: body, client: call.request.client,
                isSecure: call.request.isSecure)
            guard ["GET", "POST", "PUT", "DELETE"].contains(request.method) else {
                throw .notAllowed("The method \(method.prefix(20)) is not answered.", "GET, POST, PUT, DELETE")
            }
            return Call(
                request: request, segments: try ServerRequest.segments(request.path), caller: call.caller,
                version: call.version, isNested: true)
        }
    }
#endif
