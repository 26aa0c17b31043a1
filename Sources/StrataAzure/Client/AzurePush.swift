import Foundation

/// A template for push messages: a body with placeholders that the server fills in for each message.
///
///     let template = AzureTemplate("news", body: ["aps": ["alert": "$(text)"]], headers: ["apns-priority": "10"])
///     try await client.push.register(token: deviceToken, templates: [template])
///
/// With templates, the server sends one message by name and value (`text`), and each device gets it in the form of its own
/// platform. ``AzurePush/register(token:tags:templates:options:)`` registers them. The body is JSON or a text; a template needs
/// a name, unique on this device.
public struct AzureTemplate: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The body: text, or JSON that is sent as text.
    public var body: JSONValue
    /// Headers of the push service.
    public var headers: [String: String]

    /// Describes a template.
    public init(_ name: String, body: JSONValue, headers: [String: String] = [:]) {
        self.name = name
        self.body = body
        self.headers = headers
    }
}

extension AzureDialect {
    /// Ties this installation to a device of Apple's push service, in ``AzureVersion/mobileApps`` and
    /// ``AzureVersion/datasync``.
    /// - Parameter token: The bytes that the system gave.
    /// - Throws: ``RemoteError`` of code ``AzureError/pushRequiredParameter`` without a token.
    public func installationRequest(
        token: Data?, templates: [AzureTemplate] = [], options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var installation: JSONObject = ["pushChannel": .string(try Self.channel(token, version)), "platform": "apns"]
        if !templates.isEmpty {
            var members: JSONObject = [:]
            for template in templates { members[template.name] = try json(template) }
            installation["templates"] = .object(members)
        }
        return try installationRequest(installation, options: options)
    }

    /// Ties this installation to a device of any push service.
    /// - Parameter installation: What the service wants to know: `pushChannel`, `platform`, `templates`, `tags`.
    /// - Throws: ``RemoteError`` with the code ``AzureError/pushRequiredParameter`` if `pushChannel` or `platform` is missing.
    public func installationRequest(
        _ installation: JSONObject, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        for name in ["pushChannel", "platform"] where installation[name]?.string?.isEmpty != false {
            throw error(.pushRequiredParameter, "an installation needs a \(name)")
        }
        let message = Message(body: try body(.object(installation)))
        return try request(
            .put, address.path(["push", "installations", installationID], []), message, options: options)
    }

    /// Ends what ``installationRequest(token:templates:options:)`` began.
    /// - Throws: ``RemoteError`` if the address of the application is invalid.
    public func removeInstallationRequest(
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try request(
            .delete, address.path(["push", "installations", installationID], []), Message(), options: options)
    }

    private func json(_ template: AzureTemplate) throws(RemoteError) -> JSONValue {
        var members: JSONObject = ["body": .string(try text(of: template))]
        if !template.headers.isEmpty {
            members["headers"] = .object(JSONObject(template.headers.mapValues(JSONValue.string)))
        }
        return .object(members)
    }

    private func text(of template: AzureTemplate) throws(RemoteError) -> String {
        guard !template.name.isEmpty else { throw error(.pushRequiredParameter, "a template needs a name") }
        if let text = template.body.string { return text }
        return String(decoding: try body(template.body), as: UTF8.self)
    }

    /// The name of a device: its bytes in capital digits.
    static func channel(_ token: Data?, _ version: AzureVersion) throws(RemoteError) -> String {
        guard let token, !token.isEmpty else {
            throw AzureError.pushRequiredParameter.error("the token of the device is missing", version: version)
        }
        return Hexadecimal.text(token).uppercased()
    }

    // MARK: Mobile Services

    /// The name that Mobile Services give to a registration without a template.
    public static let nativeTemplate = "$Default"

    /// Asks Mobile Services for the id of a new registration.
    /// - Throws: ``RemoteError`` if the address of the application is invalid.
    public func registrationIDRequest(options: RequestOptions = RequestOptions()) throws(RemoteError) -> WireRequest {
        try request(.post, address.path(["push", "registrationids"], []), Message(), options: options)
    }

    /// The id of a new registration, from the last part of the header `Location`.
    /// - Throws: ``RemoteError`` if the answer reports a failure, or has no id.
    public func registrationID(_ response: WireResponse) throws(RemoteError) -> String {
        if let failure = failure(response) { throw failure }
        let path = (response[header: "Location"] ?? "").prefix { $0 != "?" && $0 != "#" }
        guard let id = path.split(separator: "/").last.flatMap({ PercentEncoding.decode($0) }), !id.isEmpty else {
            throw invalidAnswer(.expectedItemInResponse, response, "the answer has no id of a registration")
        }
        return id
    }

    /// Makes or changes a registration of Mobile Services.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the token or the name of a template is missing.
    public func registrationRequest(
        id: String, token: Data?, tags: [String] = [], template: AzureTemplate? = nil,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var registration: JSONObject = ["deviceId": .string(try Self.channel(token, version)), "platform": "apns"]
        if !tags.isEmpty { registration["tags"] = .array(tags.map(JSONValue.string)) }
        if let template {
            registration["templateName"] = .string(template.name)
            registration["templateBody"] = .string(try text(of: template))
        }
        return try request(
            .put, address.path(["push", "registrations", id], []), Message(body: try body(.object(registration))),
            options: options)
    }

    /// Lists the registrations of a device at Mobile Services.
    /// - Throws: ``RemoteError`` with the code ``AzureError/pushRequiredParameter`` if the token is missing.
    public func registrationsRequest(
        token: Data?, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let pairs = ["deviceId=\(try Self.channel(token, version))", "platform=apns"]
        return try request(.get, address.path(["push", "registrations"], pairs), Message(), options: options)
    }

    /// Ends a registration at Mobile Services.
    /// - Throws: ``RemoteError`` with the code ``AzureError/pushRequiredParameter`` if the id is empty.
    public func removeRegistrationRequest(
        id: String, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard !id.isEmpty else { throw error(.pushRequiredParameter, "the id of the registration is missing") }
        return try request(.delete, address.path(["push", "registrations", id], []), Message(), options: options)
    }
}

/// Registrations of a device for push messages.
///
///     let template = AzureTemplate("news", body: ["aps": ["alert": "$(text)"]])
///     try await client.push.register(token: deviceToken, templates: [template])
///     try await client.push.unregister()
///
/// Get it from ``AzureClient/push``. Call ``register(token:tags:templates:options:)`` at each launch with the token that the
/// system gave: it replaces what was registered before. The server sends messages; this client only registers. Mobile Apps keep
/// one installation with all templates and set its tags themselves; Mobile Services keep a registration for each template.
public struct AzurePush: Sendable {
    let client: AzureClient

    private var dialect: AzureDialect { client.configuration.dialect }

    /// Ties this installation to a device, with templates for messages. It takes the place of what was said before.
    ///
    /// Mobile Services keep one registration for each template, and one without; the others are ended.
    /// - Throws: ``AzureFailure``: of code ``AzureError/pushRequiredParameter`` without a token,
    ///   ``AzureError/invalidBackendVersion`` for tags in ``AzureVersion/mobileApps`` and ``AzureVersion/datasync``, or of what
    ///   the server reports.
    public func register(
        token: Data?, tags: [String] = [], templates: [AzureTemplate] = [], options: RequestOptions? = nil
    ) async throws(AzureFailure) {
        guard dialect.version == .mobileServices else {
            return try await send(options) { options throws(RemoteError) in
                guard !tags.isEmpty else {
                    return try dialect.installationRequest(token: token, templates: templates, options: options)
                }
                throw dialect.error(
                    .invalidBackendVersion,
                    "tags of an installation are the server's to set, by the user who is logged in")
            }
        }
        var known = try await registrations(token: token, options: options)
        for template in [nil] + templates.map(Optional.some) {
            let name = template?.name ?? AzureDialect.nativeTemplate
            let id = known.removeValue(forKey: name)
            try await register(name, id, token, tags, template, options)
        }
        for id in known.values.sorted() {
            try await send(options) { options throws(RemoteError) in
                try dialect.removeRegistrationRequest(id: id, options: options)
            }
        }
    }

    private func register(
        _ name: String, _ known: String?, _ token: Data?, _ tags: [String], _ template: AzureTemplate?,
        _ options: RequestOptions?
    ) async throws(AzureFailure) {
        func put(_ id: String) async throws(AzureFailure) {
            try await send(options) { options throws(RemoteError) in
                try dialect.registrationRequest(id: id, token: token, tags: tags, template: template, options: options)
            }
        }
        if let known {
            do throws(AzureFailure) {
                return try await put(known)
            } catch {
                // The server has forgotten the registration: a new one takes its place.
                guard error.status == 410 else { throw error }
            }
        }
        try await put(
            try await client.exchange(options) { options throws(RemoteError) in
                try dialect.registrationIDRequest(options: options)
            } _: { response throws(RemoteError) in
                try dialect.registrationID(response)
            })
    }

    /// The ids of the registrations of a device at Mobile Services, by the names of their templates.
    /// - Throws: ``AzureFailure`` if the token is missing, or the server refuses or cannot be reached.
    public func registrations(
        token: Data?, options: RequestOptions? = nil
    ) async throws(AzureFailure) -> [String: String] {
        try await client.exchange(options) { options throws(RemoteError) in
            try dialect.registrationsRequest(token: token, options: options)
        } _: { response throws(RemoteError) in
            var result: [String: String] = [:]
            for item in try dialect.list(response).items {
                guard let id = item["registrationId"]?.string else { continue }
                result[item["templateName"]?.string ?? AzureDialect.nativeTemplate] = id
            }
            return result
        }
    }

    /// Ends all registrations of this installation.
    /// - Parameter token: The device; only Mobile Services need it.
    /// - Throws: ``AzureFailure`` if the token is missing, or the server refuses or cannot be reached.
    public func unregister(token: Data? = nil, options: RequestOptions? = nil) async throws(AzureFailure) {
        guard dialect.version == .mobileServices else {
            return try await send(options) { options throws(RemoteError) in
                try dialect.removeInstallationRequest(options: options)
            }
        }
        for id in try await registrations(token: token, options: options).values.sorted() {
            try await send(options) { options throws(RemoteError) in
                try dialect.removeRegistrationRequest(id: id, options: options)
            }
        }
    }

    private func send(
        _ options: RequestOptions?, _ build: (RequestOptions) throws(RemoteError) -> WireRequest
    ) async throws(AzureFailure) {
        try await client.exchange(options, build) { _ in }
    }
}
