//! TLS of all outgoing requests. The certificates of the system are some hundred files, and a server has seven clients: they
//! are read once, when the first `https://` request needs them.

use std::sync::{Arc, LazyLock};

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use rustls_platform_verifier::Verifier;

static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(ring::default_provider()));
static VERIFIER: LazyLock<Result<Verifier, Error>> = LazyLock::new(|| Verifier::new(PROVIDER.clone()));

/// The settings of every client, for the provider that `client_builder` has installed.
pub(crate) fn config() -> ClientConfig {
    let verified = ClientConfig::builder().dangerous().with_custom_certificate_verifier(Arc::new(SystemCertificates));
    let mut config = verified.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// Delegates everything to the verifier of the platform.
#[derive(Debug)]
struct SystemCertificates;

fn verifier() -> Result<&'static Verifier, Error> {
    VERIFIER.as_ref().map_err(Clone::clone)
}

impl ServerCertVerifier for SystemCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        verifier()?.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verifier()?.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verifier()?.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER.signature_verification_algorithms.supported_schemes()
    }
}
