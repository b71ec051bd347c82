//! Times of entries: the one form that pi writes, `Date.prototype.toISOString`, and its near kin.

const DAY_MS: i64 = 86_400_000;

/// Milliseconds since 1970 of `YYYY-MM-DDTHH:MM[:SS[.fraction]]` with `Z` or an offset, or of a bare date. `None` for
/// anything else: JavaScript reads some other forms too, each in the reader's own time zone.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00Z"));
    let mut parts = date.splitn(3, '-').map(|part| (part.len(), digits(part)));
    let (Some((4, Some(year))), Some((2, Some(month))), Some((2, Some(day)))) =
        (parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let known = (1..=12).contains(&month) && (1..=31).contains(&day);
    known.then(|| days(year, month, day) * DAY_MS)?.checked_add(time_of_day(time)?)
}

/// Milliseconds since midnight UTC; beyond one day where the offset leads there.
fn time_of_day(text: &str) -> Option<i64> {
    let at = text.find(['Z', '+', '-'])?;
    let (clock, zone) = text.split_at_checked(at)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.splitn(3, ':').map(|part| digits(part).filter(|_| part.len() == 2));
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    let known = hours < 24 && minutes < 60 && seconds < 60;
    let thousandths = digits(format!("{fraction:0<3}").get(..3)?)?;
    known.then_some(((hours * 60 + minutes - offset(zone)?) * 60 + seconds) * 1_000 + thousandths)
}

/// Minutes that a zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, clock) = zone.split_at_checked(1)?;
    let (hours, minutes) = clock.split_once(':')?;
    let ahead = digits(hours)? * 60 + digits(minutes)?;
    Some(if sign == "-" { -ahead } else { ahead })
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// Days from 1970-01-01 in the Gregorian calendar, counted from March so that the leap day ends a year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let from_march = (month + 9) % 12;
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn reads_what_pi_writes() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(milliseconds("2025-12-09T00:53:29.825Z"), Some(1_765_241_609_825));
        assert_eq!(milliseconds("2024-02-29T23:59:59.5Z"), Some(1_709_251_199_500));
        assert_eq!(milliseconds("2025-11-20T23:33+02:00"), Some(1_763_674_380_000));
        assert_eq!(milliseconds("2025-11-20"), Some(1_763_596_800_000));
        assert_eq!(milliseconds("1969-12-31T23:59:59.999Z"), Some(-1));
    }

    #[test]
    fn leaves_what_has_no_one_meaning() {
        for text in
            ["", "now", "2025-11-20T23:33", "2025-13-01", "20 Nov 2025", "2025-1-1", "2025-11-20T25:00Z"]
        {
            assert_eq!(milliseconds(text), None, "{text}");
        }
        assert_eq!(milliseconds("2025-11-20T23:33:00.é9Z"), None);
    }
}
