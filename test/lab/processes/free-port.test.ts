import { expect, it } from 'vitest'
import { freePorts } from './free-port.ts'

it('no port is handed out twice before it is bound: a mon could not start where the API server had its port', async () => {
  const rounds = await Promise.all(Array.from({ length: 40 }, () => freePorts(8)))
  expect(new Set(rounds.flat()).size).toBe(320)
})
