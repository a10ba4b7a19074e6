import { isIPv4, isIPv6 } from 'node:net'

/** True when the text is of the format. Formats the API server does not know hold for every text. */
export function isOfFormat(text: string, format: string): boolean {
  const check = checks[format]
  return check === undefined || check(text)
}

const dateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const checks: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  datetime: isDateTime,
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isRealDate(text),
  duration: (text) => durationSeconds(text) !== undefined,
  byte: isBase64,
  ipv4: (text) => isIPv4(text),
  ipv6: (text) => isIPv6(text),
  cidr: isCidr,
  mac: (text) => /^([0-9a-f]{2}[:-]){5}([0-9a-f]{2})$/i.test(text),
  uuid: (text) => uuid.test(text),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: (text) => text.length <= 255 && /^[A-Za-z0-9_]([-A-Za-z0-9_.]*[A-Za-z0-9_])?\.?$/.test(text),
  'k8s-short-name': (text) => text.length <= 63 && label.test(text),
  'k8s-long-name': (text) => text.length <= 253 && subdomain.test(text),
}

function isDateTime(text: string): boolean {
  return dateTime.test(text) && isRealDate(text)
}

/** Only days past the 28th can be missing from a month. */
function isRealDate(text: string): boolean {
  const day = Number(text.slice(8, 10))
  if (day >= 1 && day <= 28) return true
  const year = Number(text.slice(0, 4))
  const month = Number(text.slice(5, 7))
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

export function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/')
  if (slash < 0) return false
  const bits = text.slice(slash + 1)
  if (!/^(0|[1-9]\d{0,2})$/.test(bits)) return false
  const address = text.slice(0, slash)
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128)
}

const durationUnits: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
}

/** Seconds of `1h30m` and its kin, or undefined when the text is no duration. */
export function durationSeconds(text: string): number | undefined {
  if (text === '0') return 0
  const match = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h|d|w))+$/.exec(text)
  if (!match) return undefined
  let seconds = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d|w)/g)) {
    seconds += Number(amount) * (durationUnits[unit as string] as number)
  }
  return match[1] === '-' ? -seconds : seconds
}
