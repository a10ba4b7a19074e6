import { describe, expect, it } from 'vitest'
import { parseKuredFlags } from './kured-flags.ts'

const flagsOf = (command: readonly string[], env: readonly { name: string; value?: string }[] = []) =>
  parseKuredFlags({
    spec: { selector: {}, template: { metadata: {}, spec: { containers: [{ name: 'kured', command, env }] } } },
  })

function read(...args: string[]) {
  const flags = flagsOf(['/usr/bin/kured', ...args])
  return flags.known ? flags.value : flags.why
}

describe('flags of kured', () => {
  it('left out mean what kured means by it', () => {
    expect(read()).toEqual({
      concurrency: 1,
      annotatesNodes: false,
      lockAnnotation: 'weave.works/kured-node-lock',
      lockTtlMs: 0,
      periodMs: 3_600_000,
      delayMs: 0,
      drainPodSelector: '',
      isBlockedByPods: false,
      window: { days: [0, 1, 2, 3, 4, 5, 6], start: 0, end: 86_399, timeZone: 'UTC' },
    })
  })

  it('are read in every way in which they can be written', () => {
    expect(
      read('--annotate-nodes', '--concurrency', '3', '--period=1h30m', '--lock-ttl=1.5h', '--reboot-delay=90s'),
    ).toMatchObject({
      annotatesNodes: true,
      concurrency: 3,
      periodMs: 5_400_000,
      lockTtlMs: 5_400_000,
      delayMs: 90_000,
    })
    expect(read('--annotate-nodes=false', '--lock-annotation=example.com/lock')).toMatchObject({
      annotatesNodes: false,
      lockAnnotation: 'example.com/lock',
    })
    expect(
      read('--reboot-days=mon,Tuesday,3', '--start-time=10pm', '--end-time=4:30', '--time-zone=Europe/Berlin'),
    ).toMatchObject({
      window: { days: [1, 2, 3], start: 79_200, end: 16_200, timeZone: 'Europe/Berlin' },
    })
  })

  it('in the environment win over arguments, as in kured', () => {
    const env = [{ name: 'KURED_CONCURRENCY', value: '4' }, { name: 'KURED_NODE_ID' }, { name: 'PERIOD', value: '1m' }]
    expect(flagsOf(['--concurrency=2'], env)).toMatchObject({ value: { concurrency: 4, periodMs: 3_600_000 } })
  })

  it('are found in a container of another name and in args alone, as manifests of others write them', () => {
    const inContainers = (...containers: { name: string; args?: readonly string[] }[]) =>
      parseKuredFlags({ spec: { selector: {}, template: { metadata: {}, spec: { containers } } } })
    const main = { name: 'main', args: ['--concurrency=3'] }
    expect(inContainers(main)).toMatchObject({ value: { concurrency: 3 } })
    expect(inContainers({ name: 'proxy' }, { ...main, name: 'kured' })).toMatchObject({ value: { concurrency: 3 } })
    expect(inContainers()).toEqual({ known: false, why: 'it has no container' })
  })

  it('name noon and midnight as Go reads them, and days with a comma too many: a window would be half a day off', () => {
    expect(read('--reboot-days=mon,,', '--start-time=12am', '--end-time=12:59:59pm')).toMatchObject({
      window: { days: [1], start: 0, end: 46_799 },
    })
  })

  it('that are empty in the environment say nothing, as in kured', () => {
    expect(flagsOf(['--concurrency=2'], [{ name: 'KURED_CONCURRENCY', value: '' }])).toMatchObject({
      value: { concurrency: 2 },
    })
  })

  it('may have a time of 0 without a unit, as Go does', () => {
    expect(read('--lock-ttl=0', '--period=0')).toMatchObject({ lockTtlMs: 0, periodMs: 0 })
  })

  const bad: Record<string, string[]> = {
    'a concurrency that is no number': ['--concurrency=many'],
    'a concurrency that is cut off': ['--concurrency'],
    'a time without a unit': ['--lock-ttl=30'],
    'a day that there is not': ['--reboot-days=someday'],
    'an hour that there is not': ['--start-time=25:00'],
    'the hour after the last': ['--start-time=24:00'],
    'a minute that there is not': ['--start-time=4:60'],
    'a second that there is not': ['--start-time=4:00:60'],
    'an end that is a word': ['--end-time=noon'],
    'an hour that is a word': ['--start-time=noon'],
    'a time zone that there is not': ['--time-zone=Mars/Olympus'],
  }
  it.each(Object.entries(bad))(
    'that cannot be read make all unknown, so that nothing is decided on half of them: %s',
    (_, args) => {
      expect(read(...args)).toContain(args[0]?.split('=')[0])
    },
  )
})
