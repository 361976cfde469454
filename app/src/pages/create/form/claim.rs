//! The fields of a PersistentVolumeClaim.
use super::{
    Form,
    fields::{Options, input, select},
};
use leptos::prelude::*;
use portico_domain::panel::{ACCESS_MODES, NewClaim, NewObject, StorageClassChoice};

fn read(new: &NewObject, read: impl Fn(&NewClaim) -> &String) -> String {
    match new {
        NewObject::Claim(claim) => read(claim).clone(),
        _ => String::new(),
    }
}

fn write(new: &mut NewObject, write: impl FnOnce(&mut NewClaim)) {
    if let NewObject::Claim(claim) = new {
        write(claim);
    }
}

pub fn fields(form: Form) -> AnyView {
    let classes = Signal::derive(move || {
        form.choices.with(|choices| {
            let names = choices
                .storage_classes
                .iter()
                .map(|class| class.name.clone());
            names.collect::<Vec<_>>()
        })
    });
    let about = move || {
        let name = form.new.with(|new| read(new, |claim| &claim.storage_class));
        form.choices
            .with(|choices| class_in_words(&choices.storage_classes, name.trim()))
            .map(|text| view! { <p class="text-muted">{text}</p> })
    };
    view! {
        <div class="creation-fields">
            {input(
                form,
                "storage_class",
                "Storage class",
                "Leave empty for the cluster's default class",
                Options::of(classes),
                |new| read(new, |claim| &claim.storage_class),
                |new, text| write(new, |claim| claim.storage_class = text),
            )}
            {input(
                form,
                "size",
                "Size",
                "For example 10Gi",
                Options::none(),
                |new| read(new, |claim| &claim.size),
                |new, text| write(new, |claim| claim.size = text),
            )}
            {select(
                form,
                "access_mode",
                "Access mode",
                &ACCESS_MODES,
                |new| read(new, |claim| &claim.access_mode),
                |new, text| write(new, |claim| claim.access_mode = text),
            )}
        </div>
        {about}
    }
    .into_any()
}

/// Returns what a class means for the claim; for an empty name, of the default class.
fn class_in_words(classes: &[StorageClassChoice], name: &str) -> Option<String> {
    if classes.is_empty() {
        return None;
    }
    let found = classes.iter().find(|class| {
        if name.is_empty() {
            class.is_default
        } else {
            class.name == name
        }
    });
    let Some(class) = found else {
        return Some(if name.is_empty() {
            "The cluster has no default class: the claim waits until it has one.".to_owned()
        } else {
            format!("The cluster has no storage class {name}.")
        });
    };
    let bound = if class.waits_for_pod {
        "The volume is created when the first pod uses the claim."
    } else {
        "The volume is created at once."
    };
    let deleted = if class.reclaim_policy == "Delete" {
        "The data is deleted with the claim."
    } else {
        "The data stays when the claim is deleted."
    };
    let expansion = if class.can_expand {
        "The claim can be enlarged later."
    } else {
        "The claim cannot be enlarged later."
    };
    Some(format!(
        "{} ({}). {bound} {deleted} {expansion}",
        class.name, class.provisioner
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_class_is_explained() {
        let class = StorageClassChoice {
            name: "local-disk".to_owned(),
            provisioner: "example.org/none".to_owned(),
            is_default: false,
            can_expand: false,
            waits_for_pod: true,
            reclaim_policy: "Retain".to_owned(),
        };
        let words = |name| class_in_words(std::slice::from_ref(&class), name).unwrap();
        assert_eq!(
            words("local-disk"),
            "local-disk (example.org/none). The volume is created when the first pod uses the claim. \
             The data stays when the claim is deleted. The claim cannot be enlarged later."
        );
        assert!(words("").contains("no default class"));
        assert!(words("fast").contains("no storage class fast"));
        assert_eq!(class_in_words(&[], "fast"), None);
    }
}
