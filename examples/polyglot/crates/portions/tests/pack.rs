use portions::{grams, pack, Unknown, BOX_GRAMS};

#[test]
fn one_box_when_it_fits() {
    assert_eq!(
        pack(&["rice", "miso soup"]).unwrap(),
        vec![vec!["miso soup", "rice"]]
    );
}

#[test]
fn no_box_is_too_heavy() {
    let boxes = pack(&["rice"; 10]).unwrap();
    assert_eq!(boxes.len(), 4);
    for dishes in boxes {
        assert!(dishes.iter().map(|d| grams(d).unwrap()).sum::<u32>() <= BOX_GRAMS);
    }
}

#[test]
fn unknown_dishes_are_named() {
    assert_eq!(pack(&["rice", "cake"]), Err(Unknown("cake".to_string())));
}
