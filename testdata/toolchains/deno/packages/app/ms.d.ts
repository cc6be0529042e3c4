export default function ms(value: string): number;
