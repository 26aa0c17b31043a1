import Foundation
import StrataAzure
import Testing

@Suite struct AzureDateTests {
    @Test(arguments: [
        ("0001-01-01T00:00:00.000Z", -62_135_596_800.0), ("1600-02-29T12:34:56.789Z", -11_670_953_103.211),
        ("1969-12-31T23:59:59.999Z", -0.001), ("1970-01-01T00:00:00.000Z", 0),
        ("2000-02-29T00:00:00.001Z", 951_782_400.001),
        ("2024-12-31T23:59:59.500Z", 1_735_689_599.5), ("9999-12-31T23:59:59.999Z", 253_402_300_799.999),
    ])
    func timesAreSpeltAndRead(text: String, seconds: Double) throws {
        #expect(AzureDate.text(Date(timeIntervalSince1970: seconds)) == text)
        #expect(abs(try #require(AzureDate.date(text)).timeIntervalSince1970 - seconds) < 1e-4)
    }

    @Test func everyDayComesBack() throws {
        for day in stride(from: -719_000, to: 2_930_000, by: 37) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let text = try #require(AzureDate.text(date))
            #expect(AzureDate.date(text) == date, "\(text)")
        }
    }

    @Test func looseTimesAreRead() throws {
        let time = Date(timeIntervalSince1970: 1_351_932_240)
        for text in [
            "2012-11-03T08:44:00Z", "2012-11-03T8:44:00.0Z", "2012-11-03T08:44:00.0000000Z",
            "2012-11-03T09:44:00+01:00", "2012-11-03T00:14:00-08:30",
        ] {
            #expect(AzureDate.date(text) == time, "\(text)")
        }
        #expect(!AzureDate.isDate("2012-11-03T09:44:00+01:00"))
    }

    @Test(arguments: [
        "", "12-01-01", "2012-11-03", "2012-13-01T00:00:00Z", "2011-02-29T00:00:00Z", "2012-11-03T24:00:00Z",
        "2012-11-03T08:44:00", "2012-11-03T08:44:00.Z", "2012-11-03T08:44:00.1234567890Z", "x2012-11-03T08:44:00Z",
        "2012-11-03T08:44:00Zx", "0000-01-01T00:00:00Z", "２０１２-11-03T08:44:00Z",
    ])
    func otherTextsAreNone(text: String) {
        #expect(AzureDate.date(text) == nil)
        #expect(!AzureDate.isDate(text))
    }

    @Test func timesBeyondTheCalendarHaveNoText() {
        for seconds in [-62_135_596_801, 253_402_300_800, 1e30, .infinity, .nan] {
            #expect(AzureDate.text(Date(timeIntervalSince1970: seconds)) == nil)
        }
    }
}
