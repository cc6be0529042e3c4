import Mustache from 'mustache';

// euros writes cents the way the counter does: 160 is "1.60 €".
export function euros(cents) {
  return `${(cents / 100).toFixed(2)} €`;
}

// page fills the template with a price table, the cheapest dish first.
export function page(template, table) {
  const dishes = table.dishes
    .map((dish) => ({ name: dish.name, grams: dish.grams, price: euros(dish.price_cents), cents: dish.price_cents }))
    .sort((a, b) => a.cents - b.cents || a.name.localeCompare(b.name, 'en'));
  return Mustache.render(template, { dishes });
}
