//! What is known of a model: its limits, and what its answers cost.

/// Limits of a model in tokens, as pi-ai's `Model` states them; 0 and absent both mean unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelLimits {
    /// Context window.
    pub context_window: Option<u64>,
    /// The most it writes in one answer.
    pub max_tokens: Option<u64>,
    /// The most it reads in one request, where that is stated.
    pub max_input_tokens: Option<u64>,
}

/// Tokens and cost of an answer, in the shape of pi-ai's `Usage`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Tokens read, without those from a cache.
    pub input: f64,
    /// Tokens written, thinking included.
    pub output: f64,
    /// Tokens read from a cache.
    pub cache_read: f64,
    /// Tokens written to a cache.
    pub cache_write: f64,
    /// Part of `cache_write` that stays for an hour, where that is reported.
    pub cache_write_1h: Option<f64>,
    /// Part of `output` that is thinking, where that is reported.
    pub reasoning: Option<f64>,
    /// All tokens.
    pub total_tokens: f64,
    /// Cost in the model's currency.
    pub cost: Cost,
}

/// What each kind of token cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Of `input`.
    pub input: f64,
    /// Of `output`.
    pub output: f64,
    /// Of `cache_read`.
    pub cache_read: f64,
    /// Of `cache_write`.
    pub cache_write: f64,
    /// Of everything.
    pub total: f64,
}

/// Price of a million tokens of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// Of `input`.
    pub input: f64,
    /// Of `output`.
    pub output: f64,
    /// Of `cache_read`.
    pub cache_read: f64,
    /// Of `cache_write`.
    pub cache_write: f64,
}

/// What a model's tokens cost, as pi-ai's `Model` states it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices {
    /// What holds unless a tier does.
    pub rates: Rates,
    /// Rates for requests that read more tokens than the threshold beside them.
    pub tiers: Vec<(f64, Rates)>,
}

const MILLION: f64 = 1_000_000.0;

impl Prices {
    /// The cost of an answer. Of all tiers whose threshold is exceeded the highest holds for the whole request; a
    /// cache write that stays for an hour costs twice the input's rate.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Cost {
        let read = usage.input + usage.cache_read + usage.cache_write;
        let above = self.tiers.iter().filter(|(threshold, _)| read > *threshold);
        let tier = above.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let rates = tier.map_or(self.rates, |(_, rates)| *rates);
        let long = usage.cache_write_1h.unwrap_or(0.0);
        let input = rates.input / MILLION * usage.input;
        let output = rates.output / MILLION * usage.output;
        let cache_read = rates.cache_read / MILLION * usage.cache_read;
        let short = usage.cache_write - long;
        let cache_write = (rates.cache_write * short + rates.input * 2.0 * long) / MILLION;
        Cost { input, output, cache_read, cache_write, total: input + output + cache_read + cache_write }
    }
}

impl Usage {
    /// The usage of two answers; a field that only some report is there when one of them does (requirements C37).
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let either = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        Self {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            cache_write_1h: either(self.cache_write_1h, other.cache_write_1h),
            reasoning: either(self.reasoning, other.reasoning),
            total_tokens: self.total_tokens + other.total_tokens,
            cost: Cost {
                input: self.cost.input + other.cost.input,
                output: self.cost.output + other.cost.output,
                cache_read: self.cost.cache_read + other.cost.cache_read,
                cache_write: self.cost.cache_write + other.cost.cache_write,
                total: self.cost.total + other.cost.total,
            },
        }
    }
}
