declare module "is-number" {
  export default function isNumber(value: unknown): boolean;
}
