extension MaxLeapClient {
    /// Calls a function on the server.
    ///
    ///     let average = try await client.call("average", ["of": [1, 2, 3]])
    ///     print(average)
    ///
    /// - Parameters:
    ///   - function: The name of the function.
    ///   - parameters: The values that it receives by name.
    ///   - options: How the request is made; nil for the configuration's.
    /// - Returns: What it gave back.
    /// - Throws: ``RemoteError``, with code 141 if the function failed, 143 if there is none.
    public func call(
        _ function: String, _ parameters: [String: MaxLeapValue] = [:], options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapValue {
        try await run(function, parameters, isJob: false, options)
    }

    /// Runs a job on the server. MaxLeap answers when it has ended, Parse when it has begun.
    /// - Throws: ``RemoteError``, with code 141 if the job failed.
    @discardableResult
    public func runJob(
        _ job: String, _ parameters: [String: MaxLeapValue] = [:], options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapValue {
        try await run(job, parameters, isJob: true, options)
    }

    private func run(
        _ name: String, _ parameters: [String: MaxLeapValue], isJob: Bool, _ options: RequestOptions?
    ) async throws(RemoteError) -> MaxLeapValue {
        let options = self.options(options)
        let body = try MaxLeapValue.dictionary(parameters).json().members ?? [:]
        let request = try dialect.functionRequest(name, body, isJob: isJob, options: options)
        return try MaxLeapValue(dialect.functionResult(await send(request, options)))
    }
}

extension MaxLeapObject {
    /// A new role.
    /// - Parameters:
    ///   - name: Letters, digits, `_`, `-` and spaces. It cannot be changed later.
    ///   - acl: Who may read and change the role.
    /// - Throws: ``RemoteError`` with code 139 for a name that no role has.
    public static func role(named name: String, acl: MaxLeapACL) throws(RemoteError) -> MaxLeapObject {
        let characters = PercentEncoding.Characters.alphanumerics.union("_- ")
        guard !name.isEmpty, name.utf8.allSatisfy(characters.contains) else {
            throw MaxLeapError.invalidRoleName.error(
                "\"\(name.prefix(80))\" is not a valid role name; use letters, digits, _, - and spaces")
        }
        var role = MaxLeapObject("_Role")
        role["name"] = .string(name)
        role.acl = acl
        return role
    }
}
