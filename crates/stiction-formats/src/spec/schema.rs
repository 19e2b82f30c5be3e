//! What may stand in a specification, for editors.

use schemars::generate::SchemaSettings;

use super::Spec;

/// The JSON schema of specifications (draft 2020-12). It is made of the types that read
/// them; what depends on several keys at once, only reading tells.
#[must_use]
pub fn schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Spec>().to_value()
}
