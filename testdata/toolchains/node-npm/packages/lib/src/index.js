import isNumber from "is-number";

export function describe(value) {
  return isNumber(value) ? `number ${value}` : `text ${value}`;
}
