import { afterEach, expect, it, vi } from 'vitest'
import { freePortRun, freePorts } from './free-port.ts'

afterEach(() => vi.unstubAllEnvs())

it('no port is handed out twice before it is bound: a mon could not start where the API server had its port', async () => {
  const rounds = await Promise.all(Array.from({ length: 40 }, () => freePorts(8)))
  expect(new Set(rounds.flat()).size).toBe(320)
})

it('no two runs share a port, also before anybody listens: a replica would take what another was given', async () => {
  const firsts = await Promise.all(Array.from({ length: 30 }, () => freePortRun(16)))
  const ports = firsts.flatMap((first) => Array.from({ length: 16 }, (_, index) => first + index))
  expect(new Set(ports).size).toBe(30 * 16)
})

it('two suites at the same time take ports from ranges apart: they do not know what the other was given and has not bound', async () => {
  const rangeOf = async (worker: string) => {
    vi.stubEnv('VITEST_POOL_ID', worker)
    const ports = await freePorts(200)
    return { least: Math.min(...ports), most: Math.max(...ports) }
  }
  const [first, second] = [await rangeOf('1'), await rangeOf('2')]
  expect(first.most).toBeLessThan(second.least)
})
