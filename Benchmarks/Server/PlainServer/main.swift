#if Server
    import Foundation
    import Hummingbird

    // PlainServer <port> <file> <how many objects to begin with>
    let arguments = CommandLine.arguments
    let table = Table(path: arguments[2])
    let writes = Table(path: arguments[2])
    table.use { connection in
        connection.transaction {
            for number in 0..<Int(arguments[3])! {
                let id = "i" + String(repeating: "0", count: 6 - String(number).count) + String(number)
                _ = connection.insert(
                    Item(itemID: id, title: "title \(number)", n: Int64(number), done: number % 2 == 0))
            }
        }
    }
    let writer = DispatchQueue(label: "writer")

    func answer(_ text: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    let router = Router()
    router.get("item/:id") { _, context in
        guard let text = table.use({ $0.object(context.parameters.get("id") ?? "") }) else {
            return answer("{}", .notFound)
        }
        return answer(text)
    }
    router.get("item") { _, _ in answer(table.use { $0.objects(20) }) }
    router.post("item") { request, context in
        let body = try await request.body.collect(upTo: 1_000_000)
        let item = try JSONDecoder().decode(Item.self, from: Data(buffer: body))
        let isDone = await withCheckedContinuation { continuation in
            writer.async { continuation.resume(returning: writes.use { $0.insert(item) }) }
        }
        return answer(isDone ? "{\"status\":\"OK\"}" : "{}", isDone ? .created : .conflict)
    }
    let application = Application(
        router: router, configuration: .init(address: .hostname("127.0.0.1", port: Int(arguments[1])!)))
    try await application.runService()
#endif
