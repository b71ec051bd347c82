//! How often and after how long a request is sent again (requirements A16 to A18, D55, G1, G2, G10).

use std::time::Duration;

/// What to do with a provider's wish to wait longer than the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeyondCap {
    /// Give up and say so: sleeping for hours helps nobody.
    Stop,
    /// Wait as long as the cap.
    Cap,
}

/// A bounded policy. Delays double with each retry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Retries after the first try.
    pub max_retries: u32,
    /// Delay before the first retry, in milliseconds.
    pub base_delay_ms: f64,
    /// The longest delay, in milliseconds.
    pub max_delay_ms: f64,
    /// Symmetric random part of a delay, from 0 to 1.
    pub jitter: f64,
    /// What a wish beyond the longest delay does.
    pub beyond_cap: BeyondCap,
    /// Whether an answer without text is worth another try (requirements D57, G17).
    pub repeats_empty_answers: bool,
}

/// Beyond these, any delay is longer than any cap.
const MOST_DOUBLINGS: u32 = 64;

impl RetryPolicy {
    /// ADR 0282: three retries after 2, 4 and 8 seconds.
    pub const SUMMARY: Self = Self {
        max_retries: 3,
        base_delay_ms: 2_000.0,
        max_delay_ms: 60_000.0,
        jitter: 0.0,
        beyond_cap: BeyondCap::Stop,
        repeats_empty_answers: false,
    };
    /// The refine strategy: three tries, 1 and 2 seconds apart.
    pub const REFINE: Self =
        Self { max_retries: 2, base_delay_ms: 1_000.0, repeats_empty_answers: true, ..Self::SUMMARY };
    /// Prism: three tries, 100 and 200 milliseconds apart, spread by a quarter, never more than a second.
    pub const PRISM: Self = Self {
        max_retries: 2,
        base_delay_ms: 100.0,
        max_delay_ms: 1_000.0,
        jitter: 0.25,
        beyond_cap: BeyondCap::Cap,
        repeats_empty_answers: false,
    };

    /// The delay before retry number `attempt` (from 1); `None` when there is none any more.
    ///
    /// A provider's `wish` in milliseconds comes before the computed delay. `random` lies in `[0, 1)`. The cap
    /// applies to the result.
    #[must_use]
    pub fn delay(&self, attempt: u32, wish: Option<f64>, random: f64) -> Option<Duration> {
        let ms = self.delay_ms(attempt, wish, random)?;
        Some(Duration::try_from_secs_f64(ms / 1_000.0).unwrap_or(Duration::MAX))
    }

    /// The same in milliseconds: never below 0, never above the longest delay.
    #[must_use]
    pub fn delay_ms(&self, attempt: u32, wish: Option<f64>, random: f64) -> Option<f64> {
        if attempt == 0 || attempt > self.max_retries {
            return None;
        }
        let wish = wish.filter(|ms| ms.is_finite() && *ms >= 0.0);
        if self.beyond_cap == BeyondCap::Stop && wish.is_some_and(|ms| ms > self.max_delay_ms) {
            return None;
        }
        let doubled = self.base_delay_ms * f64::from(attempt.saturating_sub(1).min(MOST_DOUBLINGS)).exp2();
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 0.5 };
        let spread = 1.0 + self.jitter * (2.0 * random - 1.0);
        // Without jitter's lower end in the way of infinity, which times zero is no number.
        let ms = wish.unwrap_or(doubled).min(f64::MAX) * spread;
        Some(ms.clamp(0.0, self.max_delay_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(policy: RetryPolicy) -> Vec<u128> {
        (1..).map_while(|attempt| policy.delay(attempt, None, 0.5)).map(|delay| delay.as_millis()).collect()
    }

    #[test]
    fn presets_have_the_delays_of_f3() {
        assert_eq!(delays(RetryPolicy::SUMMARY), [2_000, 4_000, 8_000], "A17");
        assert_eq!(delays(RetryPolicy::REFINE), [1_000, 2_000], "D55");
        assert_eq!(delays(RetryPolicy::PRISM), [100, 200], "E26");
    }

    #[test]
    fn no_numbers_make_a_delay_beyond_the_cap() {
        for base_delay_ms in [0.0, f64::MIN_POSITIVE, 1e300, f64::MAX] {
            for (jitter, random) in [(0.0, 0.5), (1.0, 0.0), (1.0, 1.0), (0.25, f64::NAN), (1.0, -7.0)] {
                let policy =
                    RetryPolicy { base_delay_ms, jitter, max_retries: u32::MAX, ..RetryPolicy::PRISM };
                for attempt in [1, 2, 64, u32::MAX] {
                    let ms = policy.delay_ms(attempt, None, random).unwrap();
                    assert!(
                        (0.0..=1_000.0).contains(&ms),
                        "{base_delay_ms} {jitter} {random} {attempt}: {ms}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_wish_beyond_the_cap_stops_or_is_capped() {
        let hour = Some(3_600_000.0);
        assert_eq!(RetryPolicy::SUMMARY.delay(1, hour, 0.5), None, "G10");
        assert_eq!(RetryPolicy::PRISM.delay(1, hour, 0.5), Some(Duration::from_secs(1)), "E51");
        let spread = RetryPolicy { base_delay_ms: 1_000.0, ..RetryPolicy::PRISM };
        assert_eq!(spread.delay(1, None, 1.0), Some(Duration::from_secs(1)), "E51: capped after jitter");
    }
}
