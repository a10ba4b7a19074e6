/** When kured reboots nodes, by its flags `--reboot-days`, `--start-time`, `--end-time` and `--time-zone`. */
export interface RebootWindow {
  /** 0 is Sunday. */
  readonly days: readonly number[]
  /** Seconds of the day; a start after the end means a window over midnight. */
  readonly start: number
  readonly end: number
  readonly timeZone: string
}

const dayNames = ['su', 'mo', 'tu', 'we', 'th', 'fr', 'sa']
const fullNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Undefined for what kured would refuse to start with. */
export function parseRebootWindow(flags: {
  readonly days: string | undefined
  readonly start: string | undefined
  readonly end: string | undefined
  readonly timeZone: string | undefined
}): RebootWindow | undefined {
  const { days = dayNames.join(','), start = '0:00', end = '23:59:59', timeZone = 'UTC' } = flags
  const numbers = days
    .split(',')
    .filter((day) => day.trim() !== '')
    .map(dayNumber)
  const known = numbers.filter((day) => day !== undefined)
  const [startsAt, endsAt] = [secondOfDay(start), secondOfDay(end)]
  if (known.length < numbers.length || startsAt === undefined || endsAt === undefined) return undefined
  return isTimeZone(timeZone) ? { days: known, start: startsAt, end: endsAt, timeZone } : undefined
}

function dayNumber(text: string): number | undefined {
  const day = text.trim().toLowerCase()
  if (/^[0-6]$/.test(day)) return Number(day)
  const isNamed = (full: string) => day === full || day === full.slice(0, 3) || day === full.slice(0, 2)
  const index = fullNames.findIndex(isNamed)
  return index < 0 ? undefined : index
}

function secondOfDay(text: string): number | undefined {
  const match = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(am|pm)?$/i.exec(text.trim())
  if (match === null) return undefined
  const half = match[4]?.toLowerCase()
  const hour = half === undefined ? Number(match[1]) : (Number(match[1]) % 12) + (half === 'pm' ? 12 : 0)
  const [minute, second] = [Number(match[2] ?? 0), Number(match[3] ?? 0)]
  if (hour > 23 || minute > 59 || second > 59) return undefined
  return hour * 3_600 + minute * 60 + second
}

function isTimeZone(timeZone: string): boolean {
  try {
    clockIn(timeZone)
    return true
  } catch {
    return false
  }
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** To make one takes four times as long as to ask it, and each pass asks for each node. */
function clockIn(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known !== undefined) return known
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'long',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(timeZone, clock)
  return clock
}

/** Whether kured would reboot a node at this time. As with kured the day is the one of the time itself, also after midnight. */
export function isWindowOpen({ days, start, end, timeZone }: RebootWindow, atMs: number): boolean {
  const parts = new Map(
    clockIn(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  )
  const second = ['hour', 'minute', 'second'].reduce((sum, type) => sum * 60 + Number(parts.get(type as 'hour')), 0)
  if (!days.includes(fullNames.indexOf((parts.get('weekday') as string).toLowerCase()))) return false
  return start > end ? second >= start || second <= end : second >= start && second <= end
}
