// @ts-types="./is_number.d.ts"
import isNumber from "is-number";

export function describe(value: string): string {
  return isNumber(value) ? `number ${value}` : `text ${value}`;
}
