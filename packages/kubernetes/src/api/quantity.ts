const units: Readonly<Record<string, [bigint, bigint]>> = {
  n: [1n, 1_000_000_000n],
  u: [1n, 1_000_000n],
  m: [1n, 1_000n],
  '': [1n, 1n],
  k: [1_000n, 1n],
  M: [1_000_000n, 1n],
  G: [1_000_000_000n, 1n],
  T: [1_000_000_000_000n, 1n],
  P: [1_000_000_000_000_000n, 1n],
  E: [1_000_000_000_000_000_000n, 1n],
  Ki: [1n << 10n, 1n],
  Mi: [1n << 20n, 1n],
  Gi: [1n << 30n, 1n],
  Ti: [1n << 40n, 1n],
  Pi: [1n << 50n, 1n],
  Ei: [1n << 60n, 1n],
}

const nano = 1_000_000_000n

/**
 * A Kubernetes quantity as a whole number of billionths, exact; fractions of a billionth round up.
 *
 * @throws RangeError when the text is not a quantity
 */
export function parseQuantity(text: string): bigint {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?)$/.exec(text)
  const whole = match?.[2] ?? ''
  const fraction = match?.[3] ?? ''
  if (!match || (whole === '' && fraction === '')) {
    throw new RangeError(`"${text}" is not a quantity: expected a number and a unit, as in 500m, 2, 4Gi`)
  }
  const exponent = match[4] === undefined ? 0 : Number.parseInt(match[4], 10)
  const [up, down] = units[match[5] ?? ''] as [bigint, bigint]
  let numerator = BigInt(whole + fraction) * up * nano
  let denominator = 10n ** BigInt(fraction.length) * down
  if (exponent >= 0) numerator *= 10n ** BigInt(exponent)
  else denominator *= 10n ** BigInt(-exponent)
  const magnitude = (numerator + denominator - 1n) / denominator
  return match[1] === '-' ? -magnitude : magnitude
}

/** The quantity as a plain number: cores, bytes, pods. */
export function quantityNumber(text: string): number {
  return Number(parseQuantity(text)) / 1e9
}
