//! A model behind HTTP, as a request states it, and the connections of this environment.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use napi::JsValue;
use napi::bindgen_prelude::{External, FromNapiValue, Object};
use napi_derive::napi;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::error::{Error, Result, internal};
use super::read::Fields;
use crate::error::CompactionError;
use crate::model::{Prices, Rates};
use crate::provider::connections::{Connections, Network};
use crate::provider::hosts::{is_openai, knows_max_tokens_only};
use crate::provider::http::{DEFAULT_IDLE, Endpoint, HttpProvider};
use crate::provider::wire::{AllowanceField, Api, Delivery, Instructor, Quirks, WireModel};

/// The effort of a model that reasons: a summary needs little, and thinking counts against the answer's allowance.
const EFFORT: &str = "low";
/// Headers that belong to the transport and are left out: a body that nobody here could read must not be asked for.
const TRANSPORT: [&str; 4] = ["accept-encoding", "connection", "content-length", "transfer-encoding"];
/// Settings that say where a request may go: to ignore them would send it elsewhere.
const ROUTING: [&str; 2] = ["openRouterRouting", "vercelGatewayRouting"];

/// What the environment of a process says of the network; empty texts say nothing.
#[napi(object, object_to_js = false)]
pub struct NetworkIn {
    /// `HTTPS_PROXY`
    pub https_proxy: String,
    /// `HTTP_PROXY`
    pub http_proxy: String,
    /// `NO_PROXY`
    pub no_proxy: String,
    /// `NODE_EXTRA_CA_CERTS`, the path of a file; one that cannot be read adds nothing, as in Node.
    pub extra_certificates: String,
}

/// Connections that live as long as JavaScript holds them and a run uses them.
#[napi(catch_unwind)]
pub fn connect(network: NetworkIn) -> Result<External<Arc<Connections>>> {
    // Another part of the process may have chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let extra_certificates = std::fs::read(network.extra_certificates).unwrap_or_default();
    let NetworkIn { https_proxy, http_proxy, no_proxy, .. } = network;
    let network = Network { https_proxy, http_proxy, no_proxy, extra_certificates };
    Ok(External::new(Arc::new(Connections::new(network)?)))
}

const MODEL: &str = "request.summarizer.model";
const COMPAT: &str = "request.summarizer.model.compat";

/// The provider that a summarizer of kind `http` states.
pub(super) fn http_provider(
    summarizer: Fields<'_, '_>,
    connections: &Arc<Connections>,
) -> Result<HttpProvider> {
    let object = summarizer.part("model")?;
    let fields = Fields::of(&object, MODEL);
    let delivery =
        if summarizer.flag("stream")?.unwrap_or(true) { Delivery::Stream } else { Delivery::Whole };
    let url = base_url(fields)?;
    let model = wire_model(fields, &url, delivery)?;
    let key = summarizer.text("apiKey")?.filter(|key| !key.is_empty());
    refuse_borrowed_identity(fields, key.as_deref())?;
    let endpoint = Endpoint {
        headers: headers(&model, key.as_deref(), fields, summarizer)?,
        url: address(url, &model),
        model,
        idle: idle(summarizer)?,
        began: (SystemTime::now(), tokio::time::Instant::now()),
    };
    Ok(HttpProvider::new(Arc::clone(connections), endpoint))
}

/// What works only for the client it was given to, and not by a key alone.
fn refuse_borrowed_identity(model: Fields<'_, '_>, key: Option<&str>) -> Result<()> {
    if model.text("provider")?.as_deref() == Some("github-copilot") {
        let why = "github-copilot answers its own clients only";
        return Err(CompactionError::unsupported(&model.path("provider"), why).into());
    }
    if key.is_some_and(|key| key.contains("sk-ant-oat")) {
        let why = "a token of OAuth is for the client that it was given to";
        return Err(CompactionError::unsupported("request.summarizer.apiKey", why).into());
    }
    Ok(())
}

fn base_url(model: Fields<'_, '_>) -> Result<Url> {
    let invalid = || Error::from(CompactionError::invalid(&model.path("baseUrl"), "an http or https URL"));
    let url = Url::parse(model.text("baseUrl")?.unwrap_or_default().trim()).map_err(|_| invalid())?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(url) } else { Err(invalid()) }
}

/// Path segments go below the base URL's; a query of its own stays.
fn address(mut url: Url, model: &WireModel) -> Url {
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(model.path());
    }
    if let Some((name, value)) = model.query() {
        url.query_pairs_mut().append_pair(name, value);
    }
    url
}

fn wire_model(model: Fields<'_, '_>, url: &Url, delivery: Delivery) -> Result<WireModel> {
    let compat = model.object("compat")?;
    let compat = compat.as_ref().map(|object| Fields::of(object, COMPAT));
    let compat = compat.unwrap_or(Fields::absent(COMPAT));
    refuse_routing(compat)?;
    for field in ["contextWindow", "maxTokens"] {
        if model.count(field)?.is_none_or(|tokens| tokens == 0) {
            let expected = "the model's own number of tokens, from 1";
            return Err(CompactionError::invalid(&model.path(field), expected).into());
        }
    }
    let id = model.text("id")?.filter(|id| !id.is_empty());
    let api = api(model)?;
    Ok(WireModel {
        api,
        id: id.ok_or_else(|| CompactionError::invalid(&model.path("id"), "the model's name"))?,
        delivery,
        effort: effort(model, compat, api, url)?,
        allowance: allowance(compat, url)?,
        instructor: instructor(model, compat)?,
        declines_storage: is_openai(url),
        quirks: Quirks {
            no_stream_usage: compat.flag("supportsUsageInStreaming")? == Some(false),
            no_finish_reason: compat.flag("supportsFinishReason")? == Some(false),
            no_allowance: compat.flag("supportsMaxOutputTokens")? == Some(false),
        },
        prices: prices(model)?,
    })
}

fn api(model: Fields<'_, '_>) -> Result<Api> {
    let name = model.text("api")?;
    let name =
        name.ok_or_else(|| CompactionError::invalid(&model.path("api"), "the name of a wire format"))?;
    let known = Api::NAMED.iter().find(|(_, known)| *known == name).map(|(api, _)| *api);
    known.ok_or_else(|| {
        let why = format!("only {} are spoken natively", Api::NAMED.map(|(_, name)| name).join(", "));
        CompactionError::unsupported(&model.path("api"), &why).into()
    })
}

fn refuse_routing(compat: Fields<'_, '_>) -> Result<()> {
    for field in ROUTING {
        if let Some(routing) = compat.object(field)? {
            let names = Object::keys(&routing).map_err(|e| internal(&e))?;
            if !names.is_empty() {
                let why = "a request that ignored where it may go would be wrong";
                return Err(CompactionError::unsupported(&compat.path(field), why).into());
            }
        }
    }
    Ok(())
}

fn effort(model: Fields<'_, '_>, compat: Fields<'_, '_>, api: Api, url: &Url) -> Result<Option<String>> {
    let takes = match api {
        Api::OpenAiCompletions => compat.flag("supportsReasoningEffort")?.unwrap_or_else(|| is_openai(url)),
        Api::OpenAiResponses => compat.flag("supportsReasoningEffort")?.unwrap_or(true),
        Api::AnthropicMessages | Api::GoogleGenerativeAi => false,
    };
    let levels = model.object("thinkingLevelMap")?;
    if !takes || model.flag("reasoning")? != Some(true) {
        return Ok(None);
    }
    let levels =
        levels.as_ref().map(|object| Fields::of(object, "request.summarizer.model.thinkingLevelMap"));
    match levels {
        Some(levels) if levels.is_null(EFFORT)? => Ok(None),
        Some(levels) => Ok(Some(levels.text(EFFORT)?.unwrap_or_else(|| EFFORT.to_owned()))),
        None => Ok(Some(EFFORT.to_owned())),
    }
}

fn allowance(compat: Fields<'_, '_>, url: &Url) -> Result<AllowanceField> {
    let expected = "\"max_tokens\" or \"max_completion_tokens\"";
    let stated = compat.choice("maxTokensField", expected, |name| match name {
        "max_tokens" => Some(AllowanceField::MaxTokens),
        "max_completion_tokens" => Some(AllowanceField::MaxCompletionTokens),
        _ => None,
    })?;
    let default = if knows_max_tokens_only(url) {
        AllowanceField::MaxTokens
    } else {
        AllowanceField::MaxCompletionTokens
    };
    Ok(stated.unwrap_or(default))
}

fn instructor(model: Fields<'_, '_>, compat: Fields<'_, '_>) -> Result<Instructor> {
    let developer =
        compat.flag("supportsDeveloperRole")? == Some(true) && model.flag("reasoning")? == Some(true);
    Ok(if developer { Instructor::Developer } else { Instructor::System })
}

fn prices(model: Fields<'_, '_>) -> Result<Prices> {
    const COST: &str = "request.summarizer.model.cost";
    const TIER: &str = "request.summarizer.model.cost.tiers";
    let no_list = || Error::from(CompactionError::invalid(TIER, "a list of rates"));
    let Some(object) = model.object("cost")? else { return Ok(Prices::default()) };
    let cost = Fields::of(&object, COST);
    let mut tiers = Vec::new();
    if let Some(list) = cost.object("tiers")? {
        for object in Vec::<Object<'_>>::from_unknown(list.to_unknown()).map_err(|_| no_list())? {
            let tier = Fields::of(&object, TIER);
            tiers.push((tier.price("inputTokensAbove")?, rates(tier)?));
        }
    }
    Ok(Prices { rates: rates(cost)?, tiers })
}

fn rates(cost: Fields<'_, '_>) -> Result<Rates> {
    Ok(Rates {
        input: cost.price("input")?,
        output: cost.price("output")?,
        cache_read: cost.price("cacheRead")?,
        cache_write: cost.price("cacheWrite")?,
    })
}

fn idle(summarizer: Fields<'_, '_>) -> Result<Duration> {
    match summarizer.count("idleTimeoutMs")? {
        None => Ok(DEFAULT_IDLE),
        Some(0) => {
            Err(CompactionError::invalid(&summarizer.path("idleTimeoutMs"), "milliseconds, from 1").into())
        }
        Some(ms) => Ok(Duration::from_millis(ms)),
    }
}

/// What the format wants, then the model's headers, then the caller's; a later one replaces or removes.
fn headers(
    model: &WireModel,
    key: Option<&str>,
    fields: Fields<'_, '_>,
    summarizer: Fields<'_, '_>,
) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    let agent = concat!("pi-compaction-native/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in model.headers(key) {
        let value = secret(&value).ok_or_else(|| {
            CompactionError::invalid(&summarizer.path("apiKey"), "a key that can stand in a header")
        })?;
        headers.insert(name, value);
    }
    for owner in [fields, summarizer] {
        for (name, value) in owner.entries("headers")? {
            // The name is the caller's own; a value is in no message.
            let invalid =
                || CompactionError::invalid(&owner.path("headers"), "names and values of HTTP headers");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            match value {
                _ if TRANSPORT.contains(&name.as_str()) => None,
                Some(value) => headers.insert(name, secret(&value).ok_or_else(invalid)?),
                None => headers.remove(name),
            };
        }
    }
    Ok(headers)
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
