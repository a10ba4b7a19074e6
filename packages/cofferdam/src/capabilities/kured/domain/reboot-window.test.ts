import { expect, it } from 'vitest'
import { isWindowOpen, parseRebootWindow } from './reboot-window.ts'

interface WindowCase {
  readonly days?: string
  readonly start: string
  readonly end: string
  readonly timeZone?: string
  readonly at: string
  readonly isOpen: boolean
}

// 2026-01-07 is a Wednesday.
const cases: Record<string, WindowCase> = {
  'it is open at its first second': { start: '2:00', end: '4:00', at: '2026-01-07T02:00:00Z', isOpen: true },
  'it is open at its last second': { start: '2:00', end: '4:00', at: '2026-01-07T04:00:00Z', isOpen: true },
  'it is closed a second later': { start: '2:00', end: '4:00', at: '2026-01-07T04:00:01Z', isOpen: false },
  'over midnight it is open before': { start: '22:00', end: '4:00', at: '2026-01-07T23:00:00Z', isOpen: true },
  'over midnight it is open after': { start: '22:00', end: '4:00', at: '2026-01-07T03:00:00Z', isOpen: true },
  'over midnight it is closed at noon': { start: '22:00', end: '4:00', at: '2026-01-07T12:00:00Z', isOpen: false },
  'after midnight the new day counts, though the window began on the one before': {
    days: 'tue',
    start: '22:00',
    end: '4:00',
    at: '2026-01-07T03:00:00Z',
    isOpen: false,
  },
  'the day is the one of its time zone': {
    days: 'th',
    start: '0:00',
    end: '6:00',
    timeZone: 'Asia/Tokyo',
    at: '2026-01-07T18:00:00Z',
    isOpen: true,
  },
  'summer time moves it': {
    start: '2:00',
    end: '4:00',
    timeZone: 'Europe/Berlin',
    at: '2026-07-01T00:30:00Z',
    isOpen: true,
  },
}

it.each(Object.entries(cases))('a window of kured: %s', (_, { days, start, end, timeZone, at, isOpen }) => {
  const window = parseRebootWindow({ days, start, end, timeZone })
  expect(window && isWindowOpen(window, Date.parse(at))).toBe(isOpen)
})
