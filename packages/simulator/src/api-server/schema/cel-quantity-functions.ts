import { parseQuantity } from '@cofferdam/kubernetes/api/quantity.ts'
import type { Environment } from '@marcbachmann/cel-js'
import { isQuantity } from './value-rules.ts'

/** A quantity in CEL, in billionths. */
class CelQuantity {
  readonly nano: bigint

  constructor(nano: bigint) {
    this.nano = nano
  }
}

const type = 'kubernetes.Quantity'
const nano = 1_000_000_000n

export function registerQuantityFunctions(environment: Environment): void {
  environment
    .registerType(type, CelQuantity)
    .registerFunction(`quantity(string): ${type}`, (text: string) => {
      if (!isQuantity(text)) throw new RangeError(`${JSON.stringify(text)} is not a quantity`)
      return new CelQuantity(parseQuantity(text))
    })
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerOperator(`${type} == ${type}`, (a: CelQuantity, b: CelQuantity) => a.nano === b.nano)
    .registerFunction(`${type}.isGreaterThan(${type}): bool`, (a: CelQuantity, b: CelQuantity) => a.nano > b.nano)
    .registerFunction(`${type}.isLessThan(${type}): bool`, (a: CelQuantity, b: CelQuantity) => a.nano < b.nano)
    .registerFunction(`${type}.compareTo(${type}): int`, (a: CelQuantity, b: CelQuantity) => signOf(a.nano - b.nano))
    .registerFunction(
      `${type}.add(${type}): ${type}`,
      (a: CelQuantity, b: CelQuantity) => new CelQuantity(a.nano + b.nano),
    )
    .registerFunction(
      `${type}.sub(${type}): ${type}`,
      (a: CelQuantity, b: CelQuantity) => new CelQuantity(a.nano - b.nano),
    )
    .registerFunction(`${type}.sign(): int`, ({ nano: amount }: CelQuantity) => signOf(amount))
    .registerFunction(`${type}.isInteger(): bool`, ({ nano: amount }: CelQuantity) => amount % nano === 0n)
    .registerFunction(`${type}.asInteger(): int`, ({ nano: amount }: CelQuantity) => {
      if (amount % nano !== 0n) throw new RangeError('cannot convert value to integer')
      return amount / nano
    })
    .registerFunction(`${type}.asApproximateFloat(): double`, ({ nano: amount }: CelQuantity) => Number(amount) / 1e9)
}

function signOf(value: bigint): bigint {
  return value > 0n ? 1n : value < 0n ? -1n : 0n
}
