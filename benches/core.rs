//! The core alone: the walk over lengths, and the length of a JSON string. What a Node user sees is measured by
//! `boundary.bench.mjs`.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pi_compaction_native::transcript::part::{Tag, messages};
use pi_compaction_native::transcript::serialize::{Dialect, extent};
use pi_compaction_native::transcript::units::quoted_units;

/// Codes of roles in a header, as `js/gather.js` writes them.
const USER: u32 = 1 << 8;
const ASSISTANT: u32 = 2 << 8;
const TOOL_RESULT: u32 = 3 << 8;

const TURNS: u32 = 500;

/// One message: its header and its parts, by kind and length.
fn message(role: u32, parts: &[(Tag, u32)], records: &mut Vec<u32>) {
    let words = 2 * (parts.len() + 1);
    records.extend([Tag::Message as u32 | role, words as u32]);
    for &(tag, units) in parts {
        records.extend([tag as u32, units]);
    }
}

/// A session of turns with one call each; every tenth result is over the cap.
fn session() -> Vec<u32> {
    let mut records = Vec::new();
    for turn in 0..TURNS {
        message(USER, &[(Tag::Text, 80 + turn % 50)], &mut records);
        let edit = [(Tag::Key, 4), (Tag::Quoted, 30), (Tag::Key, 7), (Tag::Quoted, 300 + turn)];
        let said = [(Tag::Thinking, 400), (Tag::Text, 120), (Tag::Call, 4)];
        message(ASSISTANT, &[&said[..], &edit[..]].concat(), &mut records);
        let shown = if turn % 10 == 0 { 20_000 } else { 900 + turn };
        message(TOOL_RESULT, &[(Tag::Text, shown)], &mut records);
    }
    records
}

fn walk(criterion: &mut Criterion) {
    let records = session();
    let mut group = criterion.benchmark_group("walk over lengths");
    group.throughput(Throughput::Elements(messages(&records).count() as u64));
    for dialect in [Dialect::Pi087, Dialect::Pi16] {
        group.bench_function(format!("{dialect:?}"), |bencher| {
            bencher.iter(|| extent(black_box(&records), dialect));
        });
    }
    group.finish();
}

fn quoted(criterion: &mut Criterion) {
    let code = "\tlet path = \"src/lib.rs\"; // one line of code\n";
    let texts = [
        ("one line of code", code.to_owned()),
        ("code", code.repeat(200)),
        ("Cyrillic", "строка текста \\ ".repeat(600)),
        ("a surrogate pair in each line", format!("{code}\u{1f980}").repeat(200)),
    ];
    let mut group = criterion.benchmark_group("quoted_units");
    for (name, text) in texts {
        let units: Vec<u16> = text.encode_utf16().collect();
        group.throughput(Throughput::Elements(units.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| quoted_units(black_box(&units))));
    }
    group.finish();
}

criterion_group!(core, walk, quoted);
criterion_main!(core);
