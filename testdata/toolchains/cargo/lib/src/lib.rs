//! Labels books on a shelf.

/// The label of the book with this number.
pub fn label(number: u32) -> String {
    let mut buffer = itoa::Buffer::new();
    format!("book {}", buffer.format(number))
}

#[cfg(test)]
mod tests {
    #[test]
    fn labels_have_numbers() {
        assert_eq!(super::label(7), "book 7");
    }
}
