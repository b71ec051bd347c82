//! Strings as call arguments: the cheapest way across. Registered by hand, since `#[napi]` takes no rest
//! arguments.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null_mut, slice_from_raw_parts_mut};

use napi::bindgen_prelude::{External, FromNapiMutRef, JsValue, Object};
use napi::{Env, Status, sys};
use napi_derive::napi;

use crate::transcript::part::{Part, Tag, messages, next_record};
use crate::transcript::resident::Resident;
use crate::transcript::store::{Filling, Wanted};
use crate::transcript::units;

/// `measure(records, from, ...strings) → next`: replaces the length of each awaited record by the length of its
/// string as JSON. `read(store, ...strings)`: appends texts to a store. `append(resident, records, words,
/// ...strings)`: appends messages with all their texts to a resident transcript.
#[napi(module_exports)]
pub fn register(exports: Object, env: Env) -> napi::Result<()> {
    for (name, callback) in
        [(c"measure", measure as Callback), (c"read", read as Callback), (c"append", append as Callback)]
    {
        // SAFETY: environment and exports are live for this call; the callbacks live as long as the module.
        unsafe { define(env.raw(), exports.raw(), name, callback)? };
    }
    Ok(())
}

type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

unsafe fn define(
    env: sys::napi_env,
    exports: sys::napi_value,
    name: &CStr,
    callback: Callback,
) -> napi::Result<()> {
    let mut function = null_mut();
    // SAFETY: the caller vouches for the environment; the name is NUL-terminated and its length is given.
    unsafe {
        let length = name.count_bytes().cast_signed();
        check(sys::napi_create_function(
            env,
            name.as_ptr(),
            length,
            Some(callback),
            null_mut(),
            &raw mut function,
        ))?;
        check(sys::napi_set_named_property(env, exports, name.as_ptr(), function))
    }
}

unsafe extern "C" fn measure(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: Node calls this with a live environment and call.
    let call = unsafe { Call::new(env, info) };
    guarded(&call, |arguments| {
        let [records, from, strings @ ..] = arguments else { return Err(misuse()) };
        let from = call.index(*from)?;
        let next = call.with_words(*records, |records| measure_strings(&call, records, from, strings))?;
        call.number(next)
    })
}

fn measure_strings(
    call: &Call,
    records: &mut [u32],
    from: usize,
    strings: &[sys::napi_value],
) -> napi::Result<usize> {
    let mut at = from;
    let mut scratch = Vec::new();
    for string in strings {
        let awaited = |part: &Part| matches!(part.tag, Tag::Quoted | Tag::QuotedKey);
        let part = next_record(records, at, awaited).ok_or_else(misuse)?;
        scratch.clear();
        call.append(*string, part.units, &mut scratch)?;
        *records.get_mut(part.at + 1).ok_or_else(misuse)? = units::quoted_units(&scratch) as u32;
        at = part.at + 2;
    }
    Ok(at)
}

unsafe extern "C" fn read(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: Node calls this with a live environment and call.
    let call = unsafe { Call::new(env, info) };
    guarded(&call, |arguments| {
        let [store, strings @ ..] = arguments else { return Err(misuse()) };
        // SAFETY: napi checks that the value is an external of this type before it hands out the reference.
        let store = unsafe { External::<Filling>::from_napi_mut_ref(env, *store)? };
        fill(&call, store, strings)?;
        call.number(strings.len())
    })
}

unsafe extern "C" fn append(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: Node calls this with a live environment and call.
    let call = unsafe { Call::new(env, info) };
    guarded(&call, |arguments| {
        let [resident, records, words, strings @ ..] = arguments else { return Err(misuse()) };
        // SAFETY: napi checks that the value is an external of this type before it hands out the reference.
        let resident = unsafe { External::<Resident>::from_napi_mut_ref(env, *resident)? };
        let words = call.index(*words)?;
        call.with_words(*records, |records| {
            let mut strings = strings;
            for message in messages(records.get(..words).unwrap_or_default()) {
                let mut store = Filling::new(message.records().to_vec(), Wanted::Printed(0));
                strings = fill(&call, &mut store, strings)?;
                resident.append(store.filled());
            }
            Ok(())
        })?;
        call.number(strings.len())
    })
}

/// Fills the texts of a store from the strings, and answers with those that are left.
fn fill<'s>(
    call: &Call,
    store: &mut Filling,
    strings: &'s [sys::napi_value],
) -> napi::Result<&'s [sys::napi_value]> {
    let mut left = strings;
    while let Some((string, rest)) = left.split_first() {
        let Some(part) = store.awaited() else { break };
        let mut failure = Ok(());
        store.push(&part, |arena, most| failure = call.append(*string, part.units.min(most), arena));
        failure?;
        left = rest;
    }
    Ok(left)
}

fn misuse() -> napi::Error {
    napi::Error::new(Status::InvalidArg, "the gathered records do not fit the call")
}

/// Runs the body with the call's arguments; an error or a panic is thrown to JavaScript.
fn guarded(
    call: &Call,
    body: impl FnOnce(&[sys::napi_value]) -> napi::Result<sys::napi_value>,
) -> sys::napi_value {
    let result = catch_unwind(AssertUnwindSafe(|| call.arguments(body)))
        .unwrap_or_else(|_| Err(napi::Error::new(Status::GenericFailure, "panic")));
    result.unwrap_or_else(|error| {
        // SAFETY: the environment is live for the whole call.
        unsafe { napi::JsError::from(error).throw_into(call.env) };
        null_mut()
    })
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    match Status::from(status) {
        Status::Ok => Ok(()),
        status => Err(napi::Error::new(status, "a Node-API call failed")),
    }
}

/// One call from JavaScript, while it lasts.
struct Call {
    env: sys::napi_env,
    info: sys::napi_callback_info,
}

impl Call {
    /// # Safety
    /// Both must belong to the call under way.
    unsafe fn new(env: sys::napi_env, info: sys::napi_callback_info) -> Self {
        Self { env, info }
    }

    fn arguments<T>(&self, body: impl FnOnce(&[sys::napi_value]) -> napi::Result<T>) -> napi::Result<T> {
        let mut count = 0;
        let (env, info) = (self.env, self.info);
        // SAFETY: this call only counts.
        check(unsafe {
            sys::napi_get_cb_info(env, info, &raw mut count, null_mut(), null_mut(), null_mut())
        })?;
        let mut values = vec![null_mut(); count];
        let room = values.as_mut_ptr();
        // SAFETY: at most `count` values are written, which is the length of the vector.
        check(unsafe { sys::napi_get_cb_info(env, info, &raw mut count, room, null_mut(), null_mut()) })?;
        body(&values)
    }

    /// Runs the body on the words of a `Uint32Array`.
    fn with_words<T>(
        &self,
        value: sys::napi_value,
        body: impl FnOnce(&mut [u32]) -> napi::Result<T>,
    ) -> napi::Result<T> {
        let (mut kind, mut length, mut data) = (0, 0, null_mut());
        let (kind_out, length_out, data_out) = (&raw mut kind, &raw mut length, &raw mut data);
        // SAFETY: the value belongs to this call; Node checks that it is a typed array and fills all three.
        check(unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                value,
                kind_out,
                length_out,
                data_out,
                null_mut(),
                null_mut(),
            )
        })?;
        if kind != sys::TypedarrayType::uint32_array || data.is_null() {
            return Err(misuse());
        }
        // SAFETY: the words are alive as long as the call, no other reference into them exists, and reading
        // strings runs no JavaScript that could make one.
        body(unsafe { &mut *slice_from_raw_parts_mut(data.cast::<u32>(), length) })
    }

    fn index(&self, value: sys::napi_value) -> napi::Result<usize> {
        let mut number = 0;
        // SAFETY: the value belongs to this call; Node checks that it is a number.
        check(unsafe { sys::napi_get_value_uint32(self.env, value, &raw mut number) })?;
        Ok(number as usize)
    }

    fn number(&self, number: usize) -> napi::Result<sys::napi_value> {
        let mut value = null_mut();
        // SAFETY: the environment is live for the whole call.
        check(unsafe { sys::napi_create_uint32(self.env, number as u32, &raw mut value) })?;
        Ok(value)
    }

    /// Appends the first `most` units of a string.
    fn append(&self, value: sys::napi_value, most: usize, to: &mut Vec<u16>) -> napi::Result<()> {
        let start = to.len();
        to.reserve(most + 1);
        let mut written = 0;
        // SAFETY: Node writes at most `most` units and a terminator into the reserved room, and says how many
        // units it wrote.
        unsafe {
            let room = to.as_mut_ptr().add(start);
            check(sys::napi_get_value_string_utf16(self.env, value, room, most + 1, &raw mut written))?;
            to.set_len(start + written.min(most));
        }
        Ok(())
    }
}
