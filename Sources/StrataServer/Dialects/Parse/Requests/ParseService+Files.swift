#if Server
    import Foundation
    import Strata

    extension ParseService {
        /// `POST files/<name>`, in MaxLeap PUT: the bytes of a file, or JSON with them in base64.
        func upload(_ call: ParseCall, _ name: String) async throws(ServerError) -> ServerResponse {
            // Clients that may create objects with files may upload files.
            _ = try call.caller.principal.grant(
                options.access.standard.levels[.create] ?? .nobody, "upload files")
            guard !name.isEmpty, name.utf8.count <= 128, name != ".", name != "..", !name.contains("/") else {
                throw ParseCode.invalidFileName.error("\"\(name.prefix(80))\" is not a valid file name.")
            }
            var (data, type) = (call.request.body, call.request.header("Content-Type") ?? "application/octet-stream")
            if let text = call.body["base64"]?.string {
                guard let bytes = Data(base64Encoded: text) else {
                    throw ParseCode.incorrectType.error("The content of the file is not Base64.")
                }
                data = bytes
                let told = (try? JSONValue(parsing: call.request.body))?["_ContentType"]?.string
                type = told ?? "application/octet-stream"
            }
            guard !data.isEmpty else { throw ParseCode.invalidFileName.error("The file has no content.") }
            let file = InlineFile(name: name, contentType: type, data: data)
            let url = try await call.caller.database.write { (scope) throws(ServerError) in
                try call.caller.vault.replaceContent(file.fieldValue, scope: scope)
            }
            return ServerResponse(
                status: 201,
                json: [
                    "name": .string(ParseEncoder.fileName(url)), "url": .string(url),
                    "size": .integer(Int64(data.count)), "contentType": .string(type),
                ], headers: [("Location", url)])
        }

        /// `DELETE files/<name>`, which takes the master key.
        func deleteFile(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            guard call.caller.principal.hasPrivateKey else {
                throw ParseCode.operationForbidden.error("unauthorized: the master key deletes files", status: 403)
            }
            guard let name = call.segments.count == 2 ? call.segments[1] : variant.file(named: call.request),
                let mark = name.firstIndex(of: "_"), name.utf8.distance(from: name.startIndex, to: mark) == 64
            else { throw ParseCode.invalidFileName.error("The file has no name that the server gave.") }
            let (digest, filename) = (String(name[..<mark]), String(name[name.index(after: mark)...]))
            return try await call.caller.database.write { (scope) throws(ServerError) in
                guard let row = try scope.find("ServerFile", ("digest", digest), ("filename", filename)) else {
                    throw ParseCode.objectNotFound.error("There is no such file.", status: 404)
                }
                scope.delete(row, digest, filename)
                scope.touchFile(digest)
                return ServerResponse(status: variant.statusOfDeletedFile, json: [:])
            }
        }

        /// `POST functions/<name>`, and `jobs`: custom code.
        func runFunction(_ call: ParseCall, _ name: String) async throws(ServerError) -> ServerResponse {
            guard server.methods[name] != nil else {
                throw ParseCode.cloudCodeNotDeployed.error("There is no function \(name.prefix(80)).", status: 404)
            }
            var request = call.request
            request.method = call.method
            do {
                request.body = call.body.isEmpty ? Data() : try JSONValue.object(call.body).data()
            } catch {
                throw ParseCode.invalidJSON.error("\(error)")
            }
            request.headers.removeAll { $0.name.lowercased() == "content-type" }
            request.headers.append(("Content-Type", "application/json"))
            let answer: ServerResponse
            do throws(ServerError) {
                answer = try await server.runMethod(name, request, call.caller)
            } catch {
                guard error.cause == .other, error.status != 503 else { throw error }
                throw ParseCode.cloudCodeFailed.error(error.message)
            }
            guard (200..<300).contains(answer.status) else {
                let told = answer.json?["error"]?.string ?? String(decoding: answer.body.prefix(1000), as: UTF8.self)
                throw ParseCode.cloudCodeFailed.error(told, status: answer.status >= 500 ? answer.status : 400)
            }
            let text = String(decoding: answer.body, as: UTF8.self)
            let result = answer.json ?? (answer.body.isEmpty ? .null : .string(text))
            return ServerResponse(json: variant.wrapped(result, as: "result"))
        }
    }
#endif
