import { expect, it } from 'vitest'
import { performRequest } from './perform-step.ts'
import type { Side, WireRequest } from './side.ts'
import { SideMemory } from './side-memory.ts'

async function askedFor(query: string): Promise<string[]> {
  const asked: string[] = []
  const send = async ({ path }: WireRequest) => {
    asked.push(path)
    return { code: 200, body: {} }
  }
  await performRequest({ send } as Side, new SideMemory('7'), { asks: 'request', method: 'GET', path: '/pods', query })
  return asked
}

it('a list that any state since some version may answer is asked for after one of the present: an old cache would be told of as a difference', async () => {
  expect(await askedFor('resourceVersion=<version /pods/a>')).toEqual(['/pods', '/pods?resourceVersion=7'])
  expect(await askedFor('resourceVersion=0')).toEqual(['/pods', '/pods?resourceVersion=0'])
  expect(await askedFor('limit=1')).toEqual(['/pods?limit=1'])
})
