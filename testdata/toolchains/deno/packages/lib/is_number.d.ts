export default function isNumber(value: unknown): boolean;
