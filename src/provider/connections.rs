//! The connections of an environment: its proxies, its certificates, and the one client over them.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, NoProxy, Proxy};

use super::trouble::Trouble;
use crate::error::{CompactionError, Result};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

type OfAddress = fn(String) -> reqwest::Result<Proxy>;

/// What the surroundings say of the network. Empty texts say nothing.
#[derive(Clone, Default)]
pub struct Network {
    /// Proxy for `https`.
    pub https_proxy: String,
    /// Proxy for `http`.
    pub http_proxy: String,
    /// Hosts that are reached without a proxy, separated by commas.
    pub no_proxy: String,
    /// Certificates, as PEM, that are trusted beside the platform's.
    pub extra_certificates: Vec<u8>,
}

/// A client that is made when it is first needed, off whatever thread made this.
pub struct Connections {
    extra_certificates: Vec<u8>,
    proxies: Vec<Proxy>,
    client: OnceLock<Option<Client>>,
}

impl Connections {
    /// Connections of a network.
    ///
    /// # Errors
    /// `invalid_argument` for a proxy that is no URL.
    pub fn new(network: Network) -> Result<Self> {
        let no_proxy = NoProxy::from_string(&network.no_proxy);
        // The asterisk means every host, addresses included.
        let all_direct = network.no_proxy.split(',').any(|host| host.trim() == "*");
        let mut proxies = Vec::new();
        let named: [(_, OfAddress, _); 2] = [
            ("HTTPS_PROXY", Proxy::https, network.https_proxy),
            ("HTTP_PROXY", Proxy::http, network.http_proxy),
        ];
        for (name, of, address) in
            named.into_iter().filter(|(_, _, address)| !all_direct && !address.is_empty())
        {
            let proxy = of(address).map_err(|_| CompactionError::invalid(name, "the URL of a proxy"))?;
            proxies.push(proxy.no_proxy(no_proxy.clone()));
        }
        Ok(Self { extra_certificates: network.extra_certificates, proxies, client: OnceLock::new() })
    }

    /// The client.
    ///
    /// # Errors
    /// [`Trouble::Certificate`] where the platform's certificates cannot be read.
    pub fn client(&self) -> std::result::Result<&Client, Trouble> {
        self.client.get_or_init(|| self.connect()).as_ref().ok_or(Trouble::Certificate)
    }

    fn connect(&self) -> Option<Client> {
        let extra = Certificate::from_pem_bundle(&self.extra_certificates).unwrap_or_default();
        let builder = || {
            let builder =
                Client::builder().no_proxy().redirect(Policy::none()).connect_timeout(CONNECT_TIMEOUT);
            self.proxies.iter().fold(builder, |builder, proxy| builder.proxy(proxy.clone()))
        };
        let client = builder().tls_certs_merge(extra.clone()).build().ok();
        // A machine without a store of certificates still reaches hosts that need none, or only the extra ones.
        client.or_else(|| builder().tls_certs_only(extra).build().ok())
    }
}
