#if Server
    import Foundation
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob
    import StrataStore
    import Testing

    /// Totals, included objects, sub-queries and further parameters of stores, by each dialect against the server over HTTP.
    @Suite struct QueryFeatureTests {
        enum Service: String, CaseIterable, Sendable {
            case stackMob, parse, maxLeap, mobileServices, mobileApps, datasync

            var hasSubqueries: Bool { self == .parse || self == .maxLeap }
            var includes: Bool { hasSubqueries || self == .stackMob }

            func backend(_ server: LoopbackServer, _ wire: Wire) throws -> any RemoteBackend {
                switch self {
                case .stackMob: try server.client(transport: wire).backend(for: Blog.model)
                case .parse: try server.maxLeapClient(.parse, transport: wire).backend(for: Blog.model)
                case .maxLeap: try server.maxLeapClient(.maxLeap, transport: wire).backend(for: Blog.model)
                case .mobileServices: try server.azureClient(.mobileServices, transport: wire).backend
                case .mobileApps: try server.azureClient(.mobileApps, transport: wire).backend
                case .datasync: try server.azureClient(.datasync, transport: wire).backend
                }
            }
        }

        enum Blog {
            static let model = makeModel()

            private static func makeModel() -> ManagedObjectModel {
                do {
                    return try ManagedObjectModel(name: "Blog") {
                        Entity("Author") {
                            Attribute("authorId", .string)
                            Attribute("name", .string, default: .value(""))
                            Attribute("home", .string, optional: true)
                        }
                        Entity("Post") {
                            Attribute("postId", .string)
                            Attribute("title", .string, default: .value(""))
                            Attribute("likes", .integer64, default: .value(0))
                            Attribute("city", .string, optional: true)
                            Relationship("author", to: "Author", .optionalToOne)
                        }
                        Entity("Comment") {
                            Attribute("commentId", .string)
                            Attribute("text", .string, default: .value(""))
                            Relationship("post", to: "Post", .optionalToOne)
                        }
                    }
                } catch {
                    fatalError("\(error)")
                }
            }
        }

        /// A store with an empty mirror, and what it sends.
        private struct Reader {
            let wire = Wire()
            let store: RemoteStore
            let context: ManagedObjectContext

            init(_ service: Service, _ server: LoopbackServer) throws {
                var options = RemoteStore.Options()
                options.fetchPolicy = .networkOnly
                options.request.timeout = 300
                store = try RemoteStore.open(
                    model: Blog.model, backend: try service.backend(server, wire), location: .memory(name: nil),
                    options: options)
                context = try PersistentContainer(store: store).newContext()
            }

            func fetch(
                _ entity: String, _ format: String? = nil, _ options: RemoteOptions, limit: Int? = nil, offset: Int = 0
            ) async throws -> [ManagedObject] {
                var request = FetchRequest<ManagedObject>(
                    entity: entity, where: try format.map { try FetchPredicate(format: $0) },
                    sortedBy: entity == "Post" ? [FetchSort("title")] : [])
                request.limit = limit
                request.offset = offset
                request.storeOptions = options
                return try await context.fetch(request)
            }
        }

        /// Two authors, six posts with 0 to 5 likes, and a comment on each.
        private func withBlog(_ service: Service, _ body: (LoopbackServer, Reader) async throws -> Void) async throws {
            try await withServer(model: Blog.model, { $0.dialects = Places.all }) { server in
                let writer = try Reader(service, server)
                let context = writer.context
                var authors: [ManagedObject] = []
                for (name, home) in [("ann", "Oslo"), ("bob", "Rome")] {
                    let author = try context.insert(entityNamed: "Author")
                    author["authorId"] = name
                    author["name"] = name
                    author["home"] = home
                    authors.append(author)
                }
                for number in 0..<6 {
                    let post = try context.insert(entityNamed: "Post")
                    post["postId"] = "p\(number)"
                    post["title"] = "post \(number)"
                    post["likes"] = Int64(number)
                    post["city"] = number < 2 ? "Oslo" : number < 4 ? "Rome" : "Bonn"
                    post["author"] = authors[number % 2]
                    let comment = try context.insert(entityNamed: "Comment")
                    comment["commentId"] = "c\(number)"
                    comment["text"] = "on \(number)"
                    comment["post"] = post
                }
                try await context.save(options: nil)
                try await body(server, try Reader(service, server))
            }
        }

        @Test("A fetch of a page tells how many objects there are in all", arguments: Service.allCases)
        func totals(_ service: Service) async throws {
            try await withBlog(service) { _, reader in
                let total = TotalCount()
                let requests = try await reader.wire.counting {
                    let page = try await reader.fetch(
                        "Post", "likes > 1", RemoteOptions(total: total), limit: 2, offset: 1)
                    #expect(page.map { $0["title"] as? String } == ["post 3", "post 4"])
                }
                #expect(total.value == 4)
                #expect(requests == 1)
                // Over the mirror it is the mirror's number.
                let here = TotalCount()
                _ = try await reader.fetch(
                    "Post", nil, RemoteOptions(fetchPolicy: .cacheOnly, total: here), limit: 1)
                #expect(here.value == 2)
                // A fetch that is finished locally is counted locally.
                let finished = TotalCount()
                let found = try await reader.fetch(
                    "Post", "likes > 1 AND author.name == 'ann'", RemoteOptions(finishesLocally: true, total: finished),
                    limit: 1)
                #expect(found.count == 1)
                #expect(finished.value == 2)
                let all = TotalCount()
                #expect(try await reader.fetch("Post", nil, RemoteOptions(total: all)).count == 6)
                #expect(all.value == 6)
            }
        }

        @Test("Related objects come along by path: in one answer, or by further requests", arguments: Service.allCases)
        func includes(_ service: Service) async throws {
            try await withBlog(service) { _, reader in
                let requests = try await reader.wire.counting {
                    let comments = try await reader.fetch(
                        "Comment", nil, RemoteOptions(includes: ["post.author"]))
                    #expect(comments.count == 6)
                    let names = comments.map { (($0["post"] as? ManagedObject)?["author"] as? ManagedObject)?["name"] }
                    #expect(names.compactMap { $0 as? String }.sorted() == ["ann", "ann", "ann", "bob", "bob", "bob"])
                }
                #expect(service.includes ? requests == 1 : requests > 1)
                await #expect {
                    _ = try await reader.fetch("Comment", nil, RemoteOptions(includes: ["post.nobody"]))
                } throws: {
                    "\($0)".contains("Post has no relationship nobody")
                }
            }
        }

        @Test("Conditions on what another query finds", arguments: Service.allCases)
        func subqueries(_ service: Service) async throws {
            try await withBlog(service) { _, reader in
                func ids(_ entity: String, _ key: String, _ subqueries: [RemoteSubquery], _ format: String? = nil)
                    async throws -> [String]
                {
                    try await reader.fetch(entity, format, RemoteOptions(subqueries: subqueries))
                        .compactMap { $0[key] as? String }.sorted()
                }
                let liked = RemoteSubquery.leads("post", to: "Post", where: try FetchPredicate(format: "likes > 3"))
                guard service.hasSubqueries else {
                    await #expect { try await ids("Comment", "commentId", [liked]) } throws: {
                        "\($0)".contains("a condition on what another query finds")
                    }
                    #expect(reader.wire.count == 0)
                    return
                }
                #expect(try await ids("Comment", "commentId", [liked]) == ["c4", "c5"])
                #expect(try await ids("Comment", "commentId", [!liked]) == ["c0", "c1", "c2", "c3"])
                #expect(try await ids("Comment", "commentId", [liked], "text == 'on 4'") == ["c4"])
                let atHome = RemoteSubquery.has("city", sameAs: "home", of: "Author")
                #expect(try await ids("Post", "postId", [atHome]) == ["p0", "p1", "p2", "p3"])
                #expect(try await ids("Post", "postId", [!atHome]) == ["p4", "p5"])
                let bobs = RemoteSubquery.has(
                    "city", sameAs: "home", of: "Author", where: try FetchPredicate(format: "name == 'bob'"))
                #expect(try await ids("Post", "postId", [bobs]) == ["p2", "p3"])
                // Objects in the condition of the other query are known by their primary keys.
                let ann = try #require(try await reader.fetch("Author", "name == 'ann'", RemoteOptions()).first)
                let anns = RemoteSubquery.leads(
                    "post", to: "Post", where: try FetchPredicate(format: "author == %@", ann))
                #expect(try await ids("Comment", "commentId", [anns]) == ["c0", "c2", "c4"])
                var few = RemoteSubquery.leads("post", to: "Post")
                few.sorts = [FetchSort("likes", ascending: false)]
                few.limit = 1
                #expect(try await ids("Comment", "commentId", [few]) == ["c5"])
                // They count, too; the mirror has no answer.
                var request = FetchRequest<ManagedObject>(entity: "Comment")
                request.storeOptions = RemoteOptions(subqueries: [liked])
                #expect(try await reader.context.count(request) == 2)
                reader.store.fetchPolicy = .cacheOnly
                await #expect { try await ids("Comment", "commentId", [liked]) } throws: {
                    "\($0)".contains("only the server evaluates")
                }
                reader.store.fetchPolicy = .networkElseCache
                reader.wire.cut(true)
                await #expect(throws: PersistenceError.self) { try await ids("Comment", "commentId", [liked]) }
                reader.wire.cut(false)
                await #expect { try await ids("Comment", "commentId", [.leads("post", to: "Nothing")]) } throws: {
                    "\($0)".contains("Nothing")
                }
            }
        }

        @Test("Further parameters follow the dialect's own, and do not replace them", arguments: Service.allCases)
        func parameters(_ service: Service) async throws {
            try await withBlog(service) { _, reader in
                var options = RequestOptions()
                options.timeout = 300
                let own = service == .stackMob ? "likes" : service.hasSubqueries ? "limit" : "$top"
                options.parameters = [
                    RemoteParameter(own, "0"), RemoteParameter("x-tag", "a b&c"), RemoteParameter("x-tag", "2"),
                ]
                let format = service == .stackMob ? "likes == 3" : "likes > 2"
                if service == .stackMob { options.parameters.removeLast(2) }
                let found = try await reader.fetch("Post", format, RemoteOptions(request: options))
                #expect(found.count == (service == .stackMob ? 1 : 3))
                let path = try #require(reader.wire.requests.last?.head.path)
                if service != .stackMob { #expect(path.hasSuffix("&x-tag=a%20b%26c&x-tag=2")) }
                #expect(!path.contains("\(PercentEncoding.encode(own))=0"))
            }
        }
    }
#endif
