/// The header `Authorization: OAuth …` of a signed request (RFC 5849, section 3.5.1).
package struct OAuth1Authorization: Sendable {
    /// What the signature protects; it is not part of what is signed.
    package var realm: String?
    /// The other parameters in their order, without escapes. Each name is there once.
    package private(set) var parameters: [QueryParameters.Parameter] = []

    /// Collects the parameters of a request that is to be signed.
    /// - Parameters:
    ///   - consumerKey: The name of the application.
    ///   - token: The name of the session; nil for an application that signs in its own name.
    ///   - timestamp: The time in whole seconds since 1970.
    ///   - nonce: A text that was not used with this time before.
    package init(
        consumerKey: String, token: String? = nil, method: OAuth1Method = .hmacSHA1, timestamp: String, nonce: String,
        realm: String? = nil
    ) {
        self.realm = realm
        self["oauth_consumer_key"] = consumerKey
        self["oauth_nonce"] = nonce
        self["oauth_signature_method"] = method.rawValue
        self["oauth_timestamp"] = timestamp
        self["oauth_token"] = token
        self["oauth_version"] = "1.0"
    }

    /// Reads a header.
    /// - Returns: nil for any other text, a parameter that is there twice, and an escape that does not stand for UTF-8.
    package init?(header: String) {
        guard let parts = AuthorizationHeader.parameters(header, scheme: "OAuth") else { return nil }
        for (name, value) in parts {
            if name.lowercased() == "realm" {
                realm = value
                continue
            }
            guard let name = PercentEncoding.decode(name), let value = PercentEncoding.decode(value),
                self[name] == nil
            else { return nil }
            self[name] = value
        }
    }

    /// The value of a parameter: that of its name in full, such as `oauth_nonce`. Assigning nil removes it.
    package subscript(name: String) -> String? {
        get { parameters.first { $0.name == name }?.value }
        set {
            let place = parameters.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let value?): parameters[place].value = value
            case (let place?, nil): parameters.remove(at: place)
            case (nil, let value?): parameters.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// How the request is signed; nil for a method that is not supported.
    package var method: OAuth1Method? { self["oauth_signature_method"].flatMap(OAuth1Method.init) }

    /// The text of the header.
    package var header: String {
        let parts = parameters.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
        return "OAuth "
            + (realm.map { [("realm", $0)] + parts } ?? parts).map(AuthorizationHeader.spelling).joined(separator: ",")
    }
}

/// A method of signing by OAuth 1.
package enum OAuth1Method: String, Sendable, Hashable, CaseIterable {
    /// HMAC-SHA-1 over the base string.
    case hmacSHA1 = "HMAC-SHA1"
    /// The secrets themselves, which only TLS protects.
    case plaintext = "PLAINTEXT"
}
