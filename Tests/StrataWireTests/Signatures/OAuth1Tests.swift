#if Remote
    import StrataWire
    import Testing

    @Suite struct OAuth1Tests {
        private static let photos = OAuth1Request(
            method: "GET", scheme: "http", authority: "photos.example.net",
            target: "/photos?file=vacation.jpg&size=original")

        /// The example of RFC 5849, section 3.4.1.
        @Test func theBaseStringOfTheStandard() throws {
            let request = OAuth1Request(
                method: "POST", scheme: "http", authority: "EXAMPLE.COM:80",
                target: "/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", form: "c2&a3=2+q")
            let authorization = try #require(
                OAuth1Authorization(
                    header: """
                        OAuth realm="Example", oauth_consumer_key="9djdj82h48djs9d2", oauth_token="kkk9d7dh3k39sjv7", \
                        oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131201", oauth_nonce="7d8f3e4a", \
                        oauth_signature="bYT5CMsGcbgUdFHObYMEfcx6bsw%3D"
                        """))
            #expect(authorization.realm == "Example")
            #expect(
                request.baseString(authorization)
                    == "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D"
                    + "%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a"
                    + "%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
            )
        }

        /// RFC 5849, section 3.4.1.2.
        @Test(arguments: [
            ("HTTP", "EXAMPLE.COM:80", "/r%20v/X?id=123", "http://example.com/r%20v/X"),
            ("https", "www.example.net:8080", "/?q=1", "https://www.example.net:8080/"),
            ("https", "example.com:443", "", "https://example.com/"),
            ("https", "example.com:80", "/", "https://example.com:80/"),
            ("http", "[::1]:8080", "?a", "http://[::1]:8080/"),
            ("http", "[2001:DB8::1]", "/A", "http://[2001:db8::1]/A"),
        ]) func addressesAreSignedInOneForm(scheme: String, authority: String, target: String, uri: String) {
            let request = OAuth1Request(method: "GET", scheme: scheme, authority: authority, target: target)
            #expect(request.baseURI == uri)
        }

        /// The requests of RFC 5849, section 1.2.
        @Test(arguments: [
            (
                OAuth1Request(method: "POST", scheme: "https", authority: "photos.example.net", target: "/initiate"),
                "",
                """
                OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", oauth_signature_method="HMAC-SHA1", \
                oauth_timestamp="137131200", oauth_nonce="wIjqoS", \
                oauth_callback="http%3A%2F%2Fprinter.example.com%2Fready", oauth_signature="74KNZJeDHnMBp0EMJ9ZHt%2FXKycU%3D"
                """
            ),
            (
                OAuth1Request(method: "POST", scheme: "https", authority: "photos.example.net", target: "/token"),
                "hdhd0244k9j7ao03",
                """
                OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", oauth_token="hh5s93j4hdidpola", \
                oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131201", oauth_nonce="walatlh", \
                oauth_verifier="hfdp7dh39dks9884", oauth_signature="gKgrFCywp7rO0OXSjdot%2FIHF7IU%3D"
                """
            ),
            (
                photos, "pfkkdhi9sl3r4s00",
                """
                OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", oauth_token="nnch734d00sl2jdk", \
                oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131202", oauth_nonce="chapoH", \
                oauth_signature="MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D"
                """
            ),
        ]) func theRequestsOfTheStandardAreValid(request: OAuth1Request, token: String, header: String) throws {
            let authorization = try #require(OAuth1Authorization(header: header))
            let secrets = OAuth1Secrets(consumer: "kd94hf93k423kf44", token: token)
            #expect(secrets.areValid(for: request, authorization))
            #expect(!OAuth1Secrets(consumer: "kd94hf93k423kf44", token: "other").areValid(for: request, authorization))
            #expect(!OAuth1Secrets(consumer: "other", token: token).areValid(for: request, authorization))
            for change in [
                { $0.method = "PUT" }, { $0.scheme = "ftp" }, { $0.authority += ":1234" }, { $0.target += "/x" },
                { $0.form = "a=b" },
            ] as [(inout OAuth1Request) -> Void] {
                var other = request
                change(&other)
                #expect(!secrets.areValid(for: other, authorization), "\(other)")
            }
            var other = authorization
            other["oauth_nonce"] = "another"
            #expect(!secrets.areValid(for: request, other))
            other["oauth_signature"] = nil
            #expect(!secrets.areValid(for: request, other))
        }

        /// Appendix A of OAuth Core 1.0.
        @Test func theExampleOfOAuthCore() {
            let authorization = OAuth1Authorization(
                consumerKey: "dpf43f3p2l4k3l03", token: "nnch734d00sl2jdk", timestamp: "1191242096",
                nonce: "kllo9940pd9333jh")
            #expect(
                Self.photos.baseString(authorization)
                    == "GET&http%3A%2F%2Fphotos.example.net%2Fphotos&file%3Dvacation.jpg%26oauth_consumer_key%3Ddpf43f3p2l4k3l03"
                    + "%26oauth_nonce%3Dkllo9940pd9333jh%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1191242096"
                    + "%26oauth_token%3Dnnch734d00sl2jdk%26oauth_version%3D1.0%26size%3Doriginal")
            let secrets = OAuth1Secrets(consumer: "kd94hf93k423kf44", token: "pfkkdhi9sl3r4s00")
            #expect(secrets.signature(of: Self.photos, authorization) == "tR3+Ty81lMeYAr/Fid0kMTYa/WM=")
        }

        /// What Twitter's guide "Creating a signature" works out.
        @Test func theExampleOfTwitter() {
            let request = OAuth1Request(
                method: "POST", scheme: "https", authority: "api.twitter.com",
                target: "/1.1/statuses/update.json?include_entities=true",
                form: "status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21")
            let authorization = OAuth1Authorization(
                consumerKey: "xvz1evFS4wEEPTGEFPHBog", token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
                timestamp: "1318622958", nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg")
            let secrets = OAuth1Secrets(
                consumer: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
                token: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE")
            #expect(secrets.signature(of: request, authorization) == "hCtSmYh+iHYCEqBWrE7C7hYmtUk=")
        }

        /// RFC 5849, section 3.4.4.
        @Test func plaintextIsBothSecrets() throws {
            var authorization = OAuth1Authorization(
                consumerKey: "a", method: .plaintext, timestamp: "1", nonce: "n")
            let secrets = OAuth1Secrets(consumer: "j49sk3j29djd", token: "dh893hdasih9")
            #expect(
                secrets.signature(of: Self.photos, authorization, method: .plaintext) == "j49sk3j29djd&dh893hdasih9")
            authorization["oauth_signature"] = "j49sk3j29djd&dh893hdasih9"
            #expect(secrets.areValid(for: Self.photos, authorization))
            for wrong in ["j49sk3j29djd&dh893hdasih8", "j49sk3j29djd&", "", "j49sk3j29djd&dh893hdasih99"] {
                authorization["oauth_signature"] = wrong
                #expect(!secrets.areValid(for: Self.photos, authorization), "\(wrong)")
            }
            // RFC 5849, section 2.1.
            let header = """
                OAuth realm="Example", oauth_consumer_key="jd83jd92dhsh93js", oauth_signature_method="PLAINTEXT", \
                oauth_callback="http%3A%2F%2Fclient.example.net%2Fcb%3Fx%3D1", oauth_signature="ja893SD9%26"
                """
            let request = OAuth1Request(
                method: "POST", scheme: "https", authority: "server.example.com", target: "/request_temp_credentials")
            let read = try #require(OAuth1Authorization(header: header))
            #expect(OAuth1Secrets(consumer: "ja893SD9").areValid(for: request, read))
            let strange = OAuth1Secrets(consumer: "a&b %", token: "")
            #expect(strange.signature(of: Self.photos, authorization, method: .plaintext) == "a%26b%20%25&")
        }

        @Test func parametersAreSortedByEncodedNameAndThenByEncodedValue() {
            let request = OAuth1Request(
                method: "GET", scheme: "http", authority: "a", target: "/?a1=2&a=z&a-b=3&A=4&a=%C3%BC&a=+&a=b&oauth_a=1"
            )
            let authorization = OAuth1Authorization(consumerKey: "k", timestamp: "1", nonce: "n")
            let base = request.baseString(authorization)
            #expect(
                base.hasPrefix(
                    "GET&http%3A%2F%2Fa%2F&A%3D4%26a%3D%2520%26a%3D%25C3%25BC%26a%3Db%26a%3Dz%26a-b%3D3%26a1%3D2%26oauth_a%3D1%26"
                ), "\(base)")
        }

        @Test func reservedCharactersOfTheProtocolsOwnValuesAreEncodedTwice() {
            let request = OAuth1Request(method: "GET", scheme: "http", authority: "a", target: "/")
            var authorization = OAuth1Authorization(consumerKey: "k", timestamp: "1", nonce: "a+/=")
            authorization["oauth_body_hash"] = "kd6rp3Sl61XPu5be2IJqiqDAL4M="
            let base = request.baseString(authorization)
            #expect(base.contains("oauth_body_hash%3Dkd6rp3Sl61XPu5be2IJqiqDAL4M%253D%26"))
            #expect(base.contains("oauth_nonce%3Da%252B%252F%253D%26"))
        }

        @Test func aQueryMayBeSignedAsItWasSent() throws {
            let request = OAuth1Request(
                method: "GET", scheme: "http", authority: "a", target: "/?userIds=Ted,Mary&x[in]=a%20b&c")
            var authorization = OAuth1Authorization(consumerKey: "k", timestamp: "1", nonce: "n")
            #expect(
                request.baseString(authorization, queryForm: .asSent)
                    .hasSuffix("%26userIds%3DTed%2CMary%26x%5Bin%5D%3Da%2520b"))
            let secrets = OAuth1Secrets(consumer: "s")
            for form in OAuth1Request.QueryForm.allCases {
                authorization["oauth_signature"] = secrets.signature(of: request, authorization, queryForm: form)
                #expect(secrets.areValid(for: request, authorization))
            }
            #expect(
                secrets.signature(of: request, authorization, queryForm: .asSent)
                    != secrets.signature(of: request, authorization))
        }

        @Test func theSignatureIsNotSignedWhereverItIsAndTheMethodIsInCapitals() {
            let plain = OAuth1Request(method: "GET", scheme: "http", authority: "a", target: "/?b=1")
            let request = OAuth1Request(
                method: "get", scheme: "http", authority: "a", target: "/?oauth_signature=x&b=1",
                form: "oauth_signature=y")
            let authorization = OAuth1Authorization(consumerKey: "k", timestamp: "1", nonce: "n")
            #expect(request.baseString(authorization) == plain.baseString(authorization))
        }

        @Test func bytesThatAreNotUTF8AreSignedAsTheyAre() {
            let request = OAuth1Request(method: "GET", scheme: "http", authority: "a", target: "/?%ff=1", form: "a=%fF")
            let authorization = OAuth1Authorization(consumerKey: "k", timestamp: "1", nonce: "n")
            let base = request.baseString(authorization)
            #expect(base.hasPrefix("GET&http%3A%2F%2Fa%2F&%25FF%3D1%26a%3D%25FF%26oauth_consumer_key%3Dk%26"))
        }

        @Test func headersAreReadAsTheyAreWritten() throws {
            var authorization = OAuth1Authorization(
                consumerKey: "k&=\"\\,", token: "t ü", timestamp: "1", nonce: "+/=", realm: "http://a/,\"b\"")
            authorization["oauth_signature"] = "a+b/c="
            let read = try #require(OAuth1Authorization(header: authorization.header))
            #expect(read.realm == authorization.realm)
            #expect(read.parameters.map(\.name) == authorization.parameters.map(\.name))
            #expect(read.parameters.map(\.value) == authorization.parameters.map(\.value))
            #expect(read.method == .hmacSHA1)
            authorization["oauth_signature_method"] = "RSA-SHA1"
            #expect(authorization.method == nil)
            let secrets = OAuth1Secrets(consumer: "s")
            #expect(!secrets.areValid(for: Self.photos, authorization))
        }

        @Test(arguments: [
            "", "OAuth", "Basic abc", "OAuth oauth_nonce=\"a\",oauth_nonce=\"b\"", "OAuth oauth_nonce=\"%FF\"",
            "OAuth oauth_nonce=a", "OAuth oauth_nonce=\"a\",oauth%5Fnonce=\"b\"",
        ]) func otherHeadersAreRefused(header: String) {
            #expect(OAuth1Authorization(header: header) == nil)
        }
    }
#endif
