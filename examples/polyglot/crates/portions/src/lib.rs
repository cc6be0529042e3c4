//! Computes how many boxes an order needs, by the weights of the menu.

use std::fmt;

/// What fits into one box.
pub const BOX_GRAMS: u32 = 600;

const MENU: &str = include_str!("../../../menu/menu.csv");

/// A dish that the menu does not have.
#[derive(Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not on the menu", self.0)
    }
}

/// The weight of one portion, in grams.
pub fn grams(dish: &str) -> Result<u32, Unknown> {
    MENU.lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split(',');
            Some((fields.next()?, fields.next()?.parse().ok()?))
        })
        .find(|(name, _)| *name == dish)
        .map(|(_, grams)| grams)
        .ok_or_else(|| Unknown(dish.to_string()))
}

/// The boxes of an order, each a list of dishes: the heaviest go first, into the
/// first box that has room. Every portion must fit into a box of its own.
pub fn pack(order: &[&str]) -> Result<Vec<Vec<String>>, Unknown> {
    let mut portions = Vec::new();
    for dish in order {
        portions.push((grams(dish)?, *dish));
    }
    portions.sort_by(|a, b| b.cmp(a));

    let mut boxes: Vec<(u32, Vec<String>)> = Vec::new();
    for (weight, dish) in portions {
        match boxes
            .iter_mut()
            .find(|(used, _)| used + weight <= BOX_GRAMS)
        {
            Some((used, dishes)) => {
                *used += weight;
                dishes.push(dish.to_string());
            }
            None => boxes.push((weight, vec![dish.to_string()])),
        }
    }
    Ok(boxes.into_iter().map(|(_, dishes)| dishes).collect())
}
