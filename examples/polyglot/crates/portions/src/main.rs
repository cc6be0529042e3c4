//! portions DISH...: prints one line a box.

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let order: Vec<&str> = args.iter().map(String::as_str).collect();
    match portions::pack(&order) {
        Ok(boxes) => boxes
            .iter()
            .for_each(|dishes| println!("{}", dishes.join(", "))),
        Err(unknown) => {
            eprintln!("portions: {unknown}");
            std::process::exit(1);
        }
    }
}
