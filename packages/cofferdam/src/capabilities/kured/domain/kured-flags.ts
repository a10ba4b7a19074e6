import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { parseRebootWindow, type RebootWindow } from './reboot-window.ts'

/** What kured was started with, as far as it concerns others. */
export interface KuredFlags {
  /** Of how many nodes kured reboots at a time. */
  readonly concurrency: number
  /** Whether it says on a node that it wants to reboot it. Without that nobody can tell. */
  readonly annotatesNodes: boolean
  readonly lockAnnotation: string
  readonly lockTtlMs: number
  readonly periodMs: number
  /** Between the lock and the reboot. */
  readonly delayMs: number
  readonly drainPodSelector: string
  /** Whether pods on the node keep it from rebooting. */
  readonly isBlockedByPods: boolean
  readonly window: RebootWindow
}

const unitMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 3.6e6 }

/** From the arguments and the environment of its container, where the latter wins, as in kured. */
export function parseKuredFlags({ spec }: Pick<DaemonSet, 'spec'>): Observed<KuredFlags> {
  const { containers } = spec.template.spec
  const container = containers.find(({ name }) => name === 'kured') ?? containers[0]
  if (container === undefined) return unknown('it has no container')
  const flags = argumentsOf([...(container.command ?? []), ...(container.args ?? [])])
  for (const { name, value } of container.env ?? []) {
    if (!name.startsWith('KURED_') || value === undefined || value === '') continue
    flags.set(name.slice('KURED_'.length).toLowerCase().replaceAll('_', '-'), value)
  }
  const problems: string[] = []
  const duration = (name: string, fallbackMs: number) => {
    const text = flags.get(name)
    const ms = text === undefined ? fallbackMs : parseGoDuration(text)
    if (ms === undefined) problems.push(`--${name}=${text}`)
    return ms ?? fallbackMs
  }
  const concurrency = flags.get('concurrency') ?? '1'
  if (!/^\d{1,6}$/.test(concurrency)) problems.push(`--concurrency=${concurrency}`)
  const window = parseRebootWindow({
    days: flags.get('reboot-days'),
    start: flags.get('start-time'),
    end: flags.get('end-time'),
    timeZone: flags.get('time-zone'),
  })
  const parsed = {
    concurrency: Math.max(1, Number(concurrency)),
    annotatesNodes: isTrue(flags.get('annotate-nodes')),
    lockAnnotation: flags.get('lock-annotation') ?? 'weave.works/kured-node-lock',
    lockTtlMs: duration('lock-ttl', 0),
    periodMs: duration('period', 3_600_000),
    delayMs: duration('drain-delay', 0) + duration('reboot-delay', 0),
    drainPodSelector: flags.get('drain-pod-selector') ?? '',
    isBlockedByPods: flags.has('blocking-pod-selector'),
  }
  if (window === undefined) problems.push('--reboot-days, --start-time, --end-time or --time-zone')
  if (problems.length > 0 || window === undefined)
    return unknown(`it has flags that cannot be read: ${problems.join(' ')}`)
  return known({ ...parsed, window })
}

const switches = new Set(['annotate-nodes', 'force-reboot', 'alert-filter-match-only', 'alert-firing-only'])

/** `--name=value`, `--name value`, and `--name` of a switch. */
function argumentsOf(words: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>()
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [, name, value] = /^--([a-z-]+)(?:=([\s\S]*))?$/.exec(word) ?? []
    if (name === undefined) continue
    if (value === undefined && !switches.has(name)) flags.set(name, left.shift() ?? '')
    else flags.set(name, value ?? 'true')
  }
  return flags
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && ['1', 't', 'true'].includes(text.toLowerCase())
}

/** `1h30m`, `1.5h`, `500ms`, `0`. */
function parseGoDuration(text: string): number | undefined {
  if (text === '0') return 0
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  let ms = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(number) * unitMs[unit as keyof typeof unitMs]
  }
  return ms
}
