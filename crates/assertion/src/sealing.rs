//! HPKE in base mode (RFC 9180), with a single suite.
use crate::keys::{Kem, PrivateKey, PublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hpke::aead::AesGcm128;
use hpke::kdf::HkdfSha256;
use hpke::{Deserializable as _, OpModeR, OpModeS, Serializable as _};
use zeroize::Zeroizing;

const ENCAPSULATED_KEY_BYTES: usize = 32;

/// Seals and encodes: base64url of the encapsulated key and the ciphertext.
pub(crate) fn seal(key: &PublicKey, info: &[u8], aad: &[u8], plaintext: &[u8]) -> Option<String> {
    let (encapsulated, ciphertext) = hpke::single_shot_seal::<AesGcm128, HkdfSha256, Kem, _>(
        &OpModeS::Base,
        &key.key,
        info,
        plaintext,
        aad,
        &mut rand::rng(),
    )
    .ok()?;
    let mut sealed = encapsulated.to_bytes().to_vec();
    sealed.extend_from_slice(&ciphertext);
    Some(URL_SAFE_NO_PAD.encode(sealed))
}

/// Returns the plaintext given to [`seal`], or `None` if key, `info`, `aad` or ciphertext differ.
pub(crate) fn open(
    key: &PrivateKey,
    info: &[u8],
    aad: &[u8],
    encoded: &str,
) -> Option<Zeroizing<Vec<u8>>> {
    let sealed = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    let (encapsulated, ciphertext) = sealed.split_at_checked(ENCAPSULATED_KEY_BYTES)?;
    let encapsulated = <Kem as hpke::Kem>::EncappedKey::from_bytes(encapsulated).ok()?;
    hpke::single_shot_open::<AesGcm128, HkdfSha256, Kem>(
        &OpModeR::Base,
        &key.key,
        &encapsulated,
        info,
        ciphertext,
        aad,
    )
    .ok()
    .map(Zeroizing::new)
}
