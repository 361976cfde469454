use super::*;

#[test]
fn the_end_of_a_shell_is_reported_with_its_exit_code() {
    let end = ended(br#"{"metadata":{},"status":"Success"}"#);
    assert_eq!(end.exit_code, Some(0));
    let end = ended(
        br#"{"status":"Failure","reason":"NonZeroExitCode","message":"command terminated with non-zero exit code",
            "details":{"causes":[{"reason":"ExitCode","message":"130"}]}}"#,
    );
    assert_eq!(end.exit_code, Some(130));
    assert!(end.message.contains("130"));
}

#[test]
fn need_31_a_refused_terminal_names_the_missing_permission_and_leads_to_who_has_it() {
    let question = RightQuestion {
        verb: "get".to_owned(),
        group: String::new(),
        resource: "pods".to_owned(),
        subresource: "exec".to_owned(),
        namespace: Some("shop".to_owned()),
        name: None,
    };
    let target = Target {
        project: "p1".to_owned(),
        cluster: Uuid::from_u128(1),
        namespace: "shop".to_owned(),
        pod: "web".to_owned(),
    };
    let end = End::failed(&ServiceError::lacks(question.clone()));
    let frame: Value = serde_json::from_str(&last(&end, &target)).unwrap();
    let missing = serde_json::from_value::<RightQuestion>(frame["missing"].clone());
    assert_eq!(missing.unwrap(), question);
    assert_eq!(
        frame["who_can"],
        "/projects/p1/clusters/00000000-0000-0000-0000-000000000001/access\
         ?verb=get&resource=pods%2Fexec&namespace=shop#who-can"
    );
    let frame: Value = serde_json::from_str(&last(&End::done("over"), &target)).unwrap();
    assert_eq!(frame["missing"], Value::Null);
    assert_eq!(frame["who_can"], Value::Null);
}

#[test]
fn what_is_typed_and_the_size_go_to_their_channels() {
    let typed = frame(&ws::Message::Binary(b"ls".to_vec().into())).unwrap();
    assert_eq!(&typed[..], b"\0ls");
    let size = ws::Message::Text(r#"{"type":"resize","columns":80,"rows":24}"#.into());
    let size = frame(&size).unwrap();
    assert_eq!(size[0], RESIZE);
    assert!(size[1..].starts_with(br#"{"Height":24"#));
    assert!(frame(&ws::Message::Text("nonsense".into())).is_none());
}

#[test]
fn an_image_without_a_shell_is_reported_as_such() {
    let end = ended(
        br#"{"status":"Failure","message":"exec: \"/bin/sh\": stat /bin/sh: no such file or directory"}"#,
    );
    assert!(end.message.contains("no shell"));
}
