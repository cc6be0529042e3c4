//! Prints the label of a book, and what half of it is.

fn main() {
    println!("{}", shelf::label(12));
    println!("{}", ryu::Buffer::new().format(0.5));
}

#[cfg(test)]
mod tests {
    #[test]
    fn labels_come_from_the_shelf() {
        assert_eq!(shelf::label(12), "book 12");
    }
}
