import { expect, it } from 'vitest'
import { asDecided } from './as-decided.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

it('where Longhorn decides alone, no intent and no policy of a volume counts: it knows neither', () => {
  const seen = longhornFixture({
    trigger: 'drain',
    nodes: { n1: { intent: 'Reboot' }, n2: {} },
    volumes: { db: { copies: { n1: 'healthy' }, policy: 'always-allow' }, plain: { copies: { n2: 'healthy' } } },
  })
  const { settings, nodes, volumes } = asDecided({ ...seen, settings: { ...seen.settings, mode: 'observe' } })
  expect([settings.trigger, nodes.map(({ intent }) => intent), volumes.map(({ policy }) => policy)]).toEqual([
    'cordon',
    [undefined, undefined],
    [undefined, undefined],
  ])
  expect(asDecided(seen)).toBe(seen)
})
