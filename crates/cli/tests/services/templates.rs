//! Templates: what Magnum refuses, with its text intact.
use crate::creation::new_template;
use crate::tenant::Tenant;
use portico_openstack::magnum::NewClusterTemplate;
use portico_openstack::rest::ErrorKind;

#[tokio::test]
async fn case_54_a_template_in_use_is_not_deleted() {
    Tenant::run(|tenant| async move {
        let (magnum, token) = (&tenant.magnum, &tenant.token);
        let name = tenant.name("used");
        let new = NewClusterTemplate {
            name: Some(name.clone()),
            ..new_template()
        };
        let template = magnum.create_template(token, &new).await.unwrap();
        let made = tenant.make(&tenant.name("user"), &name, &[]).await;
        assert_eq!(made.cluster_template_id, template.uuid.to_string());
        let deleted = magnum.delete_template(token, template.uuid).await;
        let error = deleted.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Invalid(_)), "{error}");
        let text = "is referenced by one or multiple clusters";
        assert!(error.to_string().contains(text), "{error}");
    })
    .await;
}

#[tokio::test]
async fn case_55_a_member_may_not_publish_a_template() {
    Tenant::run(|tenant| async move {
        let new = NewClusterTemplate {
            name: Some(tenant.name("public")),
            public: Some(true),
            ..new_template()
        };
        let created = tenant.magnum.create_template(&tenant.token, &new).await;
        let error = created.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Forbidden(_)), "{error}");
        let text = "Not authorized to set public or hidden flag for cluster template.";
        assert!(error.to_string().contains(text), "{error}");
        assert!(error.next_step().unwrap().contains("project administrator"));
    })
    .await;
}
