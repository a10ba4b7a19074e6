import { expect, it } from 'vitest'
import { freePortRun } from './free-port-run.ts'

it('no two runs share a port, also before anybody listens: a replica would take what another was given', async () => {
  const firsts = await Promise.all(Array.from({ length: 30 }, () => freePortRun(16)))
  const ports = firsts.flatMap((first) => Array.from({ length: 16 }, (_, index) => first + index))
  expect(new Set(ports).size).toBe(30 * 16)
})
