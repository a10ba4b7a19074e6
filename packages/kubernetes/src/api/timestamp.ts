const msPerDay = 86_400_000

/** RFC 3339 in UTC, to the second, as Kubernetes writes it. Reckoned here because the domain knows no clock. */
export function rfc3339(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const days = Math.floor(seconds / 86_400)
  const rest = seconds - days * 86_400
  const { year, month, day } = civilFromDays(days)
  const time = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60].map((part) => pad(part, 2)).join(':')
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${time}Z`
}

/** Milliseconds since 1970, or undefined for what is no RFC 3339 time. */
export function parseRfc3339(text: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(
    text.trim(),
  )
  if (match === null) return undefined
  const at = (index: number) => Number(match[index] ?? 0)
  if (at(2) < 1 || at(2) > 12 || at(3) < 1 || at(3) > 31 || at(4) > 23 || at(5) > 59 || at(6) > 60) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (at(9) * 60 + at(10))
  const minutes = at(4) * 60 + at(5) - offset
  const fraction = Math.floor(Number(`0.${match[7] ?? 0}`) * 1000)
  return daysFromCivil(at(1), at(2), at(3)) * msPerDay + minutes * 60_000 + at(6) * 1000 + fraction
}

/** Counts years from March, so that the leap day is the last of its year; 400 years have 146 097 days. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = ((monthFromMarch + 2) % 12) + 1
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
