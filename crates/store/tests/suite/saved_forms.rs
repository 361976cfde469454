use super::Database;
use super::fixtures::at;
use portico_store::NewSavedForm;
use secrecy::{ExposeSecret as _, SecretString};

fn form(user: &str, body: &str) -> NewSavedForm {
    NewSavedForm {
        user_id: user.to_owned(),
        target: "/api/grant?project=p1".to_owned(),
        body: SecretString::from(body),
    }
}

pub async fn a_form_is_given_back_to_its_user_only(database: &Database) {
    let forms = database.store.saved_forms();
    let secret = forms.save(&form("ada-id", "name=vera"), at(0)).await;
    let secret = secret.unwrap();
    let secret = secret.expose_secret();
    let found = forms.find(secret, "ada-id", at(1)).await.unwrap().unwrap();
    assert_eq!(found.target, "/api/grant?project=p1");
    assert_eq!(found.body.expose_secret(), "name=vera");
    let other = forms.find(secret, "vera-id", at(1)).await.unwrap();
    assert!(other.is_none());
    let elsewhere = forms.find("another-browser", "ada-id", at(1)).await;
    assert!(elsewhere.unwrap().is_none());
}

pub async fn a_form_is_kept_for_ten_minutes(database: &Database) {
    let forms = database.store.saved_forms();
    let secret = forms.save(&form("ada-id", "a=b"), at(0)).await.unwrap();
    let secret = secret.expose_secret();
    assert!(
        forms
            .find(secret, "ada-id", at(599))
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        forms
            .find(secret, "ada-id", at(600))
            .await
            .unwrap()
            .is_none()
    );
    database.store.sweep(at(600)).await.unwrap();
    assert!(forms.find(secret, "ada-id", at(1)).await.unwrap().is_none());
}

pub async fn a_form_is_forgotten_once(database: &Database) {
    let forms = database.store.saved_forms();
    let secret = forms.save(&form("ada-id", "a=b"), at(0)).await.unwrap();
    let found = forms.find(secret.expose_secret(), "ada-id", at(1)).await;
    let id = found.unwrap().unwrap().id;
    assert!(forms.forget(id).await.unwrap());
    assert!(!forms.forget(id).await.unwrap());
}

pub async fn the_oldest_forms_of_a_user_make_room(database: &Database) {
    let forms = database.store.saved_forms();
    let mut secrets = Vec::new();
    for second in 0..6 {
        let kept = forms.save(&form("ada-id", "a=b"), at(second)).await;
        secrets.push(kept.unwrap());
    }
    let other = forms.save(&form("vera-id", "a=b"), at(0)).await.unwrap();
    for (number, secret) in secrets.iter().enumerate() {
        let found = forms.find(secret.expose_secret(), "ada-id", at(7)).await;
        assert_eq!(found.unwrap().is_some(), number >= 2, "{number}");
    }
    let found = forms.find(other.expose_secret(), "vera-id", at(7)).await;
    assert!(found.unwrap().is_some());
}

pub async fn a_stolen_database_shows_no_form(database: &Database) {
    let forms = database.store.saved_forms();
    let secret = forms.save(&form("ada-id", "a=b"), at(0)).await.unwrap();
    let thief = database.with_keys(&[9]).await;
    let found = thief.saved_forms();
    let found = found.find(secret.expose_secret(), "ada-id", at(1)).await;
    assert!(found.unwrap().is_none());
}
