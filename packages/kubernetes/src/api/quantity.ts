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

/** With up to three digits and no fraction there is no larger unit of which it is a whole number. */
const isShortEnough = /^[1-9]\d{0,2}(?:[numkMGTPE]|[KMGTPE]i)?$/
const decimalUnits = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binaryUnits = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/**
 * The one spelling of a quantity that the API server keeps: a whole number with the largest unit of the same kind, so `0.5` is `500m`
 * and `1024Mi` is `1Gi`.
 *
 * @throws RangeError when the text is not a quantity
 */
export function canonicalQuantity(text: string): string {
  if (isShortEnough.test(text)) return text
  const amount = parseQuantity(text)
  if (amount === 0n) return '0'
  const isSmall = amount > -1_024n * nano && amount < 1_024n * nano
  if (text.endsWith('i') && !isSmall && amount % nano === 0n) {
    const [number, unit] = inLargestUnit(amount / nano, 1_024n, binaryUnits.length)
    return `${number}${binaryUnits[unit]}`
  }
  const [number, unit] = inLargestUnit(amount, 1_000n, decimalUnits.length)
  if (!/[eE][+-]?\d/.test(text)) return `${number}${decimalUnits[unit]}`
  return unit === 3 ? String(number) : `${number}e${(unit - 3) * 3}`
}

function inLargestUnit(amount: bigint, step: bigint, units: number): readonly [bigint, number] {
  let number = amount
  let unit = 0
  while (number % step === 0n && unit < units - 1) {
    number /= step
    unit += 1
  }
  return [number, unit]
}

/** The quantity as a plain number: cores, bytes, pods. */
export function quantityNumber(text: string): number {
  return Number(parseQuantity(text)) / 1e9
}
