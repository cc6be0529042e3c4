//! Prints the label of a book, and how long its number is.

fn main() {
    println!("{}", shelf::label(12));
    println!("{}", itoa::Buffer::new().format(12).len());
}

#[cfg(test)]
mod tests {
    #[test]
    fn labels_come_from_the_shelf() {
        assert_eq!(shelf::label(12), "book 12");
    }
}
