import Foundation
import StrataAzure

extension AzureWire {
    static func login(_ input: WireCase) async throws -> JSONValue {
        let dialect = try dialect(input)
        let provider = input.text("provider") ?? "facebook"
        if input.says("normalize") { return ["provider": .string(AzureDialect.provider(provider))] }
        if input.says("challenge") {
            return ["codeChallenge": .string(AzureLoginPage.challenge(of: input.argument("codeVerifier", "verifier")))]
        }
        if input.says("refresh") { return try await refresh(input, dialect) }
        if input.has("status") {
            let user = try dialect.loginAnswer(answer(input, status: 200))
            return [
                "userId": .string(user.id), "token": .string(user.token), "authenticationToken": .string(user.token),
                "user": ["userId": .string(user.id), "token": .string(user.token)],
            ]
        }
        if input.says("page", "url", "browser", "safari", "webview", "redirect", "code", "end", "serverflow") {
            return try page(input, dialect, provider)
        }
        let token = try item(input["token"], dialect)
        do throws(RemoteError) {
            return json(try dialect.loginRequest(provider: provider, token: token))
        } catch {
            guard error.code == AzureError.loginInvalidURL.rawValue, input.has("loginHost") else { throw error }
            // What the old libraries raised for an invalid log-in host.
            return actual(error).adding(["exception": "InvalidLoginHost"])
        }
    }

    private static func refresh(_ input: WireCase, _ dialect: AzureDialect) async throws -> JSONValue {
        let response = answer(input, status: 200)
        let server = WireServer { (_) async throws(RemoteError) -> WireResponse in response }
        let client = try client(input, server)
        do {
            let user = try await client.refresh()
            if input.has("status") { return ["userId": .string(user.id), "token": .string(user.token)] }
        } catch  where input.has("status") || server.requests.isEmpty {
            return json(error)
        } catch {
            // Cases about the request have no answer.
        }
        guard let request = server.requests.first else { throw WireFault("the case leads to no request") }
        return json(request)
    }

    private static func page(_ input: WireCase, _ dialect: AzureDialect, _ provider: String) throws -> JSONValue {
        let verifier = input.text("codeVerifier", "verifier") ?? String(repeating: "v", count: 43)
        let ended = input.text("redirectUrl", "redirectURL", "url", "endUrl")
        // An address that the browser comes back by has the app's own scheme.
        let back = ended?.range(of: "://easyauth.callback").map { String((ended ?? "")[..<$0.lowerBound]) }
        let page = try dialect.loginPage(
            provider: provider, returningTo: input.text("urlScheme", "scheme") ?? back, verifier: verifier,
            parameters: object(input["parameters"]))
        if let code = input.text("authorizationCode", "code") {
            return json(try dialect.codeRequest(page, code: code))
        }
        guard let url = ended else {
            return ["url": .string(page.url), "codeChallenge": .string(AzureLoginPage.challenge(of: verifier))]
        }
        switch try dialect.result(of: page, at: url) {
        case .code(let code)?: return ["authorizationCode": .string(code), "code": .string(code)]
        case .user(let user)?: return ["userId": .string(user.id), "token": .string(user.token)]
        case nil: return ["authorizationCode": .null, "code": .null, "valid": false]
        }
    }

    static func pushRegistration(_ input: WireCase) throws -> JSONValue {
        let dialect = try dialect(input)
        let token = input["deviceTokenHex"]?.string.map(bytes)
        let request: WireRequest
        if input.says("unregister", "delete") {
            request =
                dialect.version == .mobileServices
                ? try dialect.removeRegistrationRequest(id: input.argument("registrationId", "id"))
                : try dialect.removeInstallationRequest()
        } else if dialect.version == .mobileServices {
            if input.says("list", "get") {
                request = try dialect.registrationsRequest(token: token)
            } else if input.says("create", "newid", "registrationid") {
                request = try dialect.registrationIDRequest()
            } else {
                request = try dialect.registrationRequest(
                    id: input.text("registrationId", "id") ?? "id", token: token, tags: input.texts("tags") ?? [],
                    template: templates(input).first)
            }
        } else {
            request = try dialect.installationRequest(token: token, templates: templates(input))
        }
        let actual = json(request)
        // Each run has an installation of its own.
        func veiled(_ name: String) -> JSONValue {
            .string((actual[name]?.string ?? "").replacing(dialect.installationID, with: "<installationId>"))
        }
        return actual.adding(["path": veiled("path"), "url": veiled("url")])
    }

    private static func templates(_ input: WireCase) -> [AzureTemplate] {
        if let name = input.text("templateName") {
            return [AzureTemplate(name, body: input["templateBody"] ?? "")]
        }
        let templates = input["templates"] ?? input["template"]
        return object(templates).map { name, value in
            var headers: [String: String] = [:]
            for (name, text) in object(value["headers"]) { headers[name] = WireValues.text(text) }
            return AzureTemplate(name, body: value["body"] ?? value, headers: headers)
        }
    }

    /// The bytes of hexadecimal digits; other characters are left out.
    private static func bytes(_ digits: String) -> Data {
        let values = digits.compactMap(\.hexDigitValue)
        return Data(stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
